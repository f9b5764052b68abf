// The environment of a program that runs in an app's container.

import AppContainer
import ArgumentParser
import FoundationEssentials

/// The variables that a program gets: those of this process, or, confined, the few of them that say nothing of the
/// machine or its user's business; those that the caller names; and the app's own, which nothing replaces.
struct RunEnvironment {
    /// The variables that a confined program gets of this process, besides `LC_…`: how to find programs, and how to
    /// show what to whom.
    static let handedOn: Set<String> = [
        "PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "USER", "LOGNAME",
        "APPCONTAINER_APP", "APPCONTAINER_HOME",
    ]

    /// Each is `NAME`, for this process's value, or `NAME=VALUE`.
    var named: [String] = []

    /// - Throws: `ValidationError` for a name that is empty.
    func check() throws {
        for word in named where word.isEmpty || word.hasPrefix("=") {
            throw ValidationError("--env takes NAME or NAME=VALUE, not \"\(word)\"")
        }
    }

    /// The variables of a program of the app.
    func variables(of app: RunnableApp, isConfined: Bool) -> [String: String] {
        let present = ProcessInfo.processInfo.environment
        var variables = present
        if isConfined {
            variables = present.filter { RunEnvironment.handedOn.contains($0.key) || $0.key.hasPrefix("LC_") }
        }
        for word in named {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            variables[parts[0]] = parts.count > 1 ? parts[1] : present[parts[0]]
        }
        return variables.merging(app.environment) { $1 }
    }
}
