// Values that a shell completes a word with: apps of the device on the line, and mounts.

import ArgumentParser
import BackingStore
import Daemon
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// Looks at the device's records and the kernel's list of mounts, without a daemon. A device that cannot be read
/// has no values, and no error: a shell would print it into the line that is being typed.
enum Completions {
    /// The bundle identifiers of the device on the line, those of extensions among them.
    static let apps = values { line in line.apps.map(\.identifier.text) }

    /// The names of the app's extensions, as `--extension` takes them.
    static let extensions = values { line in
        line.apps.compactMap { app in
            guard let place = app.place, line.words.contains(place.app.text) else { return nil }
            return place.shortName
        }
    }

    /// The containers of the app on the line, as `path` names them.
    static let containers = values { line in
        let app = line.apps.first { line.words.contains($0.identifier.text) }
        let shared = app.map { ($0.groups + $0.iCloud).map(\.identifier.text) } ?? []
        return ["app", "data"] + shared
    }

    /// The mount points of the homes that this user may unmount. Root may unmount all: each name is its user's choice.
    static let mountPoints = values { line in
        guard !line.prefix.hasPrefix("~") else { return [directories] }
        let places = MountedHome.mountPoints()
        guard let first = line.prefix.utf8.first, first != UInt8(ascii: "/"), let here = try? HostPath.resolved(".")
        else { return places }
        // Relative, as it was begun. Directories lead to mount points of which too little was typed.
        let below = here == "/" ? here : here + "/"
        let begun = places.filter { $0.utf8.starts(with: (below + line.prefix).utf8) }.compactMap {
            HostPath.rest(of: $0, in: here)
        }
        return begun.isEmpty ? [directories] : begun
    }

    /// Paths in mounted homes: the homes first, and what is in them once a path has begun.
    static let paths = values { line in
        let places = line.prefix.isEmpty ? MountedHome.mountPoints().map { $0 == "/" ? $0 : $0 + "/" } : []
        let isInHome = (try? MountedHome.containing(".")) != nil
        return places + (places.isEmpty || isInHome ? [files] : [])
    }

    /// In the place of a value: the shell's own completion of paths. Last among the values.
    static let files = ":files"
    /// The same for directories.
    static let directories = ":directories"

    /// A completion by a function of the line. Values that the shell would show in several lines, or obey, are none.
    private static func values(_ find: @escaping @Sendable (Line) -> [String]) -> CompletionKind {
        // The third argument, the beginning of the word, is another's where the cursor is not in the last word.
        .custom { words, index, _ in
            let found = find(Line(words, index)).filter { !$0.isEmpty && $0 == $0.onOneLine }
            guard CompletionShell.requesting == .bash else { return found }
            // bash expands the words of a list, commands in them too.
            return found.map { [files, directories].contains($0) ? $0 : ShellWord.escaped($0) }
        }
    }

    /// A command line in the middle of being typed.
    private struct Line {
        /// The values of the words before the one that is completed, without the command's name.
        let words: [String]
        /// The word that is completed, as far as it goes.
        let prefix: String

        init(_ words: [String], _ index: Int) {
            let home = ProcessSettings.variable("HOME")
            prefix = words.indices.contains(index) ? ShellWord.value(of: words[index], home: nil) : ""
            self.words = words.prefix(max(0, index)).dropFirst().map { ShellWord.value(of: $0, home: home) }
        }

        /// The apps of the first word that is a device. An option's value may come before it, and is none.
        var apps: [InstalledApp] {
            for word in words.dropFirst() where !word.hasPrefix("-") && !word.isEmpty {
                // Looked at first, as opening another user's device may change who this process acts as.
                guard (try? HostPath.status(word + "/Device.json", following: false).kind) == .file else { continue }
                return (try? DeviceDirectory.open(at: word).apps()) ?? []
            }
            return []
        }
    }
}
