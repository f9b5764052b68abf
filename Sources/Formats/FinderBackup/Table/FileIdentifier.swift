// The names of content files in a backup (`fileID` of Manifest.db).

import HashFunctions
import Platform
import SandboxModel

/// SHA-1 of the domain, a hyphen and the path, in hexadecimal. The first two digits name the directory of the file.
struct FileIdentifier: Hashable {
    let text: String

    /// - Parameter path: the exact bytes of the path, also if they are not UTF-8.
    init(domain: String, path: [UInt8]) {
        text = HashFunction.sha1.digest(of: Array(domain.utf8) + [UInt8(ascii: "-")] + path).hexadecimal
    }

    /// - Parameter bytes: the untrusted text of a row.
    /// - Returns: nil for anything but a SHA-1 digest, so that no path can lead out of the backup.
    init?(_ bytes: [UInt8]) {
        guard [UInt8](hexadecimal: bytes[...])?.count == HashFunction.sha1.length else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    var fileName: FileName { FileName(text)! }
    var directory: FileName { FileName(String(text.prefix(2)))! }
}
