// appcontainer explain: explains refused calls.

import AppContainer
import ArgumentParser
import Daemon

/// Reads the record here, without a daemon. `Explanation` groups the events; this file has the words around them. The
/// exit code is 0 also when nothing was refused.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell in words which rules refused the last calls, and what to do instead.",
        discussion: """
            Reads the device's record of events, on or off. Refusals that differ in nothing but their time and the \
            number of the process are told once, with their count; the last one comes last.
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: ArgumentHelp("The number of explanations.", valueName: "number"))
    var last = 10
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        guard last > 0 else { throw ValidationError("--last takes a number above 0") }
    }

    func run() async throws {
        let events = try EventRecord.entries(of: try device.path()).map(\.event)
        let explanations = Explanation.explanations(of: events, last: last)
        if answer.json {
            try Output.json(explanations)
            return
        }
        guard !explanations.isEmpty else { return try Output.line("nothing was refused") }
        let paragraphs = explanations.map { $0.lines.joined(separator: "\n") }
        try Output.line(paragraphs.joined(separator: "\n\n"))
    }
}

extension Explanation {
    /// The explanation as printed: the call, its count, the rule, and the advice, each on one line.
    fileprivate var lines: [String] {
        var lines = [Style.refused(call.onOneLine), "    \(times)".onOneLine]
        if let words {
            lines.append("    Rule \(rule): \(words).".onOneLine)
        } else {
            lines.append("    Rule \(rule): a rule that this version of appcontainer does not know.".onOneLine)
        }
        if let instead { lines.append("    \(Style.good("Instead:")) \("\(instead).".onOneLine)") }
        return lines
    }

    /// The caller, the call and the path, in a sentence.
    private var call: String {
        let caller = [process ?? (pid == nil ? "A process that cannot be seen" : "A process"), pid.map { "(\($0))" }]
            .compactMap(\.self).joined(separator: " ")
        let place = [
            path.map { $0.isEmpty ? "the home" : $0 } ?? "a file that has no name any more", app.map { "of \($0)" },
        ].compactMap(\.self).joined(separator: " ")
        let answer = errno.map { ": \($0)" } ?? ""
        if let lock { return "\(caller) was suspended with a lock (\(lock)) on \(place), and killed" }
        switch operation {
        case nil: return "\(caller) was refused calls that the record leaves out\(answer)"
        // Not a call: the daemon records it when the bundle of an app that is to run does not match its seal.
        case "run", "launch": return "appcontainer \(operation!) found \(place) missing or changed"
        case let call?: return "\(caller) called \(call) on \(place)\(answer)"
        }
    }

    /// The count and the time. A count of 0 means that the record has only the number of refusals that were left out.
    private var times: String {
        let more = omitted.map { ", and \($0) more that the record leaves out" } ?? ""
        switch count {
        case 0: return "\(omitted ?? 0) times, the last before \(last)"
        case 1: return "once, at \(last)\(more)"
        default: return "\(count) times, the last at \(last)\(more)"
        }
    }
}
