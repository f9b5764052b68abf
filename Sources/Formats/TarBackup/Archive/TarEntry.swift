// What stands before the content of an entry of a tar, as libarchive writes and reads it.

import BackupModel
import Glibc
import HashFunctions
import SandboxModel

/// An entry as an archive has it, but for its content.
struct TarEntry {
    enum Kind: Hashable {
        /// - Parameter data: where it is not a hole: ascending, neither empty nor side by side.
        case file(length: Int64, data: [Range<Int64>])
        case directory
        case symbolicLink([UInt8])
        /// By a path in the archive.
        case hardLink([UInt8])
        case fifo
    }

    /// The device holds files of 2 TiB.
    static let longestContent: Int64 = 4 << 40
    /// Between holes: their map then takes no more than a reader allows for it.
    static let mostPieces = 2_000_000
    /// Of all attributes of an entry. With its names that is less than the 1 MiB of extended records that libarchive reads.
    static let mostAttributes = 800_000

    /// Without NUL; a directory's without the slash at its end.
    var path: [UInt8]
    var kind: Kind
    var permissions: mode_t = 0o600
    var owner: uid_t = 0
    var group: gid_t = 0
    var modified = timespec()
    /// By name, byte by byte.
    var attributes: [BackupEntry.Attribute] = []

    /// A file without holes that nobody in particular owns.
    init(path: [UInt8], length: Int64) {
        self.init(path: path, kind: TarEntry.file(length))
    }

    init(path: [UInt8], kind: Kind) {
        (self.path, self.kind) = (path, kind)
    }

    static func file(_ length: Int64) -> Kind { .file(length: length, data: length == 0 ? [] : [0..<length]) }

    /// Puts pieces together that lie side by side.
    static func joined(_ data: [Range<Int64>], length: Int64) throws(BackupFlaw) -> [Range<Int64>] {
        var joined: [Range<Int64>] = []
        var end: Int64 = 0
        for range in data {
            guard range.lowerBound >= end, range.upperBound <= length else {
                throw BackupFlaw("has a file whose map of holes contradicts itself")
            }
            if let last = joined.last, last.upperBound == range.lowerBound {
                joined[joined.count - 1] = last.lowerBound..<range.upperBound
            } else if !range.isEmpty {
                joined.append(range)
            }
            end = range.upperBound
        }
        return joined
    }

    /// All of it in one form, which does not depend on what libarchive makes of it: what the manifest has a digest of.
    ///
    /// A series of values, each as its length in decimal digits, a colon, its bytes and a comma.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some Collection<UInt8>) {
            bytes += Array(String(value.count).utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes += value
            bytes.append(UInt8(ascii: ","))
        }
        func append(number: some BinaryInteger) { append(String(number).utf8) }
        append(path)
        append(String(permissions, radix: 8).utf8)
        append(number: owner)
        append(number: group)
        append(number: modified.tv_sec)
        append(number: modified.tv_nsec)
        switch kind {
        case .file(let length, let data):
            append("file".utf8)
            append(number: length)
            append(number: data.count)
            for range in data {
                append(number: range.lowerBound)
                append(number: range.count)
            }
        case .directory: append("directory".utf8)
        case .symbolicLink(let target):
            append("symbolic link".utf8)
            append(target)
        case .hardLink(let target):
            append("hard link".utf8)
            append(target)
        case .fifo: append("fifo".utf8)
        }
        for attribute in attributes {
            append(attribute.name)
            append(attribute.value)
        }
        return bytes
    }

    var digest: [UInt8] { HashFunction.sha256.digest(of: encoded) }
}
