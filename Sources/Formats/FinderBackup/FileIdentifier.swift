// Under which name a backup keeps a file's content.

import HashFunctions
import Platform
import SandboxModel

/// SHA-1 of the domain, a hyphen and the path, in hexadecimal digits; the first two name the directory that it lies in.
struct FileIdentifier: Hashable {
    let text: String

    /// - Parameter path: the path's own bytes, also where the row shows it in another form.
    init(domain: String, path: [UInt8]) {
        text = HashFunction.sha1.digest(of: Array(domain.utf8) + [UInt8(ascii: "-")] + path).hexadecimal
    }

    /// - Returns: nil for anything that could lead to another place than a content's.
    init?(_ bytes: [UInt8]) {
        guard [UInt8](hexadecimal: bytes[...])?.count == HashFunction.sha1.length else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    var fileName: FileName { FileName(text)! }
    var directory: FileName { FileName(String(text.prefix(2)))! }
}
