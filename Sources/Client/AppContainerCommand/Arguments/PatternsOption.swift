// The option --patterns of audits: a file of patterns that says what is a document and what can be made again.

import ArgumentParser
import Platform
import SandboxModel

/// The file is read here, as the request has its text.
struct PatternsOption: ParsableArguments {
    @Option(help: ArgumentHelp("Add the patterns of this file.", valueName: "file"), completion: .file())
    var patterns: String?

    /// The text of a file of patterns, of 256 KiB at most. The daemon parses it.
    /// - Throws: ``Complaint`` of kind `notFound` for a file that cannot be read, `badRequest` if it is not UTF-8.
    func text() throws(Complaint) -> String? {
        guard let file = patterns else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try HostPath.contents(file, limit: 1 << 18)
        } catch {
            throw Complaint(.notFound, "cannot read the patterns in \(file): \(error.message)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Complaint(.badRequest, "\(file) is not UTF-8")
        }
        return text
    }
}
