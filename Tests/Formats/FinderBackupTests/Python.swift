// Python with the public backup tools, for tests.

import Foundation
import TestSupport
import Testing

enum Python {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// Runs a script that lies beside the tests.
    @discardableResult
    static func run(_ script: String, _ arguments: String..., temporary: String = "/var/tmp") throws -> String {
        let words = [try interpreter(), folder.appending(path: script).path()] + arguments
        return try shell("TMPDIR='\(temporary)' " + words.map { "'\($0)'" }.joined(separator: " "))
    }

    /// Runs a few lines in a directory.
    static func run(lines: String, in directory: String) throws {
        let script = directory + ".py"
        try Data(lines.utf8).write(to: URL(filePath: script))
        try shell("cd '\(directory)' && '\(try interpreter())' '\(script)'; status=$?; rm '\(script)'; exit $status")
    }

    /// Changes a property list of a backup in a line of Python, in which the property list is `list`.
    static func edit(_ name: String, in directory: String, _ change: String) throws {
        let lines = """
            import plistlib
            list = plistlib.load(open("\(name).plist", "rb"))
            \(change)
            plistlib.dump(list, open("\(name).plist", "wb"), fmt=plistlib.FMT_BINARY)
            """
        try run(lines: lines, in: directory)
    }

    private static func interpreter() throws -> String {
        let path = Checkout.root.appending(path: ".build-python/bin/python3").path()
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "\(path) is missing: `scripts/prepare check` makes it, with the tools that this test needs")
        return path
    }
}
