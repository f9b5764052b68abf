// Under which name a backup keeps a file's content.

import HashFunctions
import SandboxModel

/// SHA-1 of the domain, a hyphen and the path, in hexadecimal digits; the first two name the directory that it lies in.
struct FileIdentifier: Hashable {
    let text: String

    /// - Parameter path: the path's own bytes, also where the row shows it in another form.
    init(domain: String, path: [UInt8]) {
        text = FileIdentifier.hexadecimal(
            HashFunction.sha1.digest(of: Array(domain.utf8) + [UInt8(ascii: "-")] + path))
    }

    /// - Returns: nil for anything that could lead to another place than a content's.
    init?(_ bytes: [UInt8]) {
        let isDigit: (UInt8) -> Bool = { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard bytes.count == 2 * HashFunction.sha1.length, bytes.allSatisfy(isDigit) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    var fileName: FileName { FileName(text)! }
    var directory: FileName { FileName(String(text.prefix(2)))! }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
