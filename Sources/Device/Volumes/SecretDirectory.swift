// The directory of secrets.

import Glibc
import Platform
import SandboxModel

/// Reads passcodes from files of a directory that its owner has named.
struct SecretDirectory: Sendable {
    private let path: String

    init(_ path: String) throws(Complaint) {
        self.path = path
        let doing = "cannot use \(path) for secrets"
        let directory = try Complaint.wrapNamed(doing) { () throws(SystemError) in
            SharedDescriptor(try Descriptor.openDirectory(byOwnLinks: try HostPath.absolute(path)))
        }
        try VolumeState.requireOwnPlace(directory.descriptor, path, doing)
    }

    /// The first line of a file.
    /// - Throws: ``Complaint`` of kind `notFound`, `passcodeNeeded` or `invalidPasscode`.
    func passcode(_ name: FileName) throws(Complaint) -> String {
        let shown = "\(path)/\(name.text)"
        let bytes: [UInt8]
        do throws(SystemError) {
            // A file of a secret is often a link to the one that holds now. No fifo is waited for.
            bytes = try Descriptor.open(path: shown, flags: O_RDONLY | O_NONBLOCK).readToEnd(limit: 1 << 16)
        } catch {
            guard error != .noEntry else {
                throw Complaint(.notFound, "there is no secret \(name.text) in \(path)")
            }
            throw Complaint(error, doing: "cannot read \(shown)")
        }
        guard let line = String(validating: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) else {
            throw Complaint(.invalidPasscode, "the first line of \(shown) is not UTF-8")
        }
        guard !line.isEmpty else { throw Complaint(.passcodeNeeded, "the first line of \(shown) is empty") }
        return line
    }
}
