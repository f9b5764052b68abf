// Names of volumes. They become names of directories.

import HashFunctions
import Platform
public import SandboxModel

/// The name of a volume, as container engines allow it: a letter or a digit, then letters, digits, `_`, `.` and `-`.
public struct VolumeName: Hashable, Sendable {
    /// The limit in bytes, which leaves room for the temporary names of devices.
    static let longest = 128

    public let text: String

    /// - Throws: ``Complaint`` of kind `invalidIdentifier`.
    public init(_ text: String) throws(Complaint) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, VolumeName.isAlphanumeric(first), bytes.count <= VolumeName.longest,
            bytes.allSatisfy({ VolumeName.isAlphanumeric($0) || "_.-".utf8.contains($0) })
        else {
            throw Complaint(
                .invalidIdentifier,
                "\(bytes.shown) is no name of a volume: it has to be 1 to \(VolumeName.longest) letters, digits, "
                    + "underscores, dots and hyphens, and begin with a letter or a digit")
        }
        self.text = text
    }

    /// The name for a text that somebody suggests: the text itself where it can be one of 64 bytes, else its digest.
    public init(for suggested: String) {
        if suggested.utf8.count <= 64, let name = try? VolumeName(suggested) {
            self = name
        } else {
            let digest = HashFunction.sha256.digest(of: Array(suggested.utf8))
            text = "v-" + Array(digest.prefix(16)).hexadecimal
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// The name of its directories. No name is too long, or one of `.` and `..`.
    var fileName: FileName { FileName(text)! }
}
