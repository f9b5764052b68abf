// The header of a tar entry (POSIX.1-2001 pax), as libarchive writes and reads it.

import BackupModel
import Glibc
import HashFunctions
import SandboxModel

/// An entry of an archive without its content.
///
/// A number or a name that is too long for the ustar header is in a pax record (POSIX.1-2001, pax, "pax Interchange
/// Format"), holes are in GNU's sparse format 1.0, an attribute is a record `SCHILY.xattr.NAME`. Format.md has the
/// list.
struct TarEntry {
    /// The type of an entry. A socket is a file with an attribute, as tar has no type for it.
    enum Kind: Hashable {
        /// - Parameter data: the ranges that are not holes: ascending, not empty, not adjacent.
        case file(length: Int64, data: [Range<Int64>])
        case directory
        case symbolicLink([UInt8])
        /// The target is a path in the archive.
        case hardLink([UInt8])
        case fifo
    }

    /// The limit of a file in bytes; a device has files of at most 2 TiB.
    static let longestContent: Int64 = 4 << 40
    /// The limit of ranges between holes, which keeps the map of holes below ``TarReader``'s limit for headers.
    static let mostPieces = 2_000_000
    /// The limit in bytes of an entry's attributes, which keeps its extended header below the 1 MiB that libarchive
    /// reads.
    static let mostAttributes = 800_000

    /// Without NUL, and for a directory without the slash at the end.
    var path: [UInt8]
    var kind: Kind
    var permissions: mode_t = 0o600
    var owner: uid_t = 0
    var group: gid_t = 0
    var modified = timespec()
    /// Sorted by the bytes of the name.
    var attributes: [BackupEntry.Attribute] = []

    /// A file without holes, of root.
    init(path: [UInt8], length: Int64) {
        self.init(path: path, kind: TarEntry.file(length))
    }

    init(path: [UInt8], kind: Kind) {
        (self.path, self.kind) = (path, kind)
    }

    /// The kind of a file without holes.
    static func file(_ length: Int64) -> Kind { .file(length: length, data: length == 0 ? [] : [0..<length]) }

    /// Joins adjacent ranges, and drops empty ones.
    /// - Throws: ``BackupFlaw`` for ranges that overlap, descend, or lie outside the file.
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

    /// A canonical form of all fields, which does not depend on libarchive's encoding; the manifest has its digest.
    ///
    /// It is a series of netstrings: the length in decimal digits, a colon, the bytes and a comma.
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

    /// SHA-256 of ``encoded``.
    var digest: [UInt8] { HashFunction.sha256.digest(of: encoded) }
}
