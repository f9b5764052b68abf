// A transcript: command lines with their output and exit codes, kept as text and compared with a new run.

import Foundation
import Testing

/// A file of command lines after `$ `, each followed by its output and, unless it is 0, its exit code in brackets.
///
/// Values that differ between runs (paths, UUIDs, process numbers, sizes on the host) are words in angle brackets.
/// `RECORD_TRANSCRIPTS=1 swift test` writes the files anew, for review.
struct Transcript {
    let file: URL

    static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

    init(_ name: String) {
        file = Transcript.directory.appending(path: name + ".txt")
    }

    func play(in sandbox: Sandbox) throws {
        let expected = try String(contentsOf: file, encoding: .utf8)
        var actual = ""
        for line in expected.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#") { actual += line + "\n" }
            guard line.hasPrefix("$ ") else { continue }
            let run = try sandbox.run(String(line.dropFirst(2)))
            actual += line + "\n" + sandbox.anonymous(run.output)
            if !actual.hasSuffix("\n") { actual += "\n" }
            if run.code != 0 { actual += "[\(run.code)]\n" }
        }
        if ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil {
            try actual.write(to: file, atomically: true, encoding: .utf8)
        } else if actual != expected {
            Issue.record("\(file.lastPathComponent) differs:\n\(Transcript.difference(expected, actual))")
        }
    }

    private static func difference(_ expected: String, _ actual: String) -> String {
        let old = expected.split(separator: "\n", omittingEmptySubsequences: false)
        let new = actual.split(separator: "\n", omittingEmptySubsequences: false)
        return new.difference(from: old).map { change in
            switch change {
            case .remove(let line, let text, _): "-\(line + 1): \(text)"
            case .insert(let line, let text, _): "+\(line + 1): \(text)"
            }
        }.joined(separator: "\n")
    }
}
