// The header of a tar entry (POSIX.1-2001 pax), as libarchive writes and reads it.

public import Glibc
import HashFunctions
import SandboxModel

/// An entry of an archive without its content.
///
/// A number or a name that is too long for the ustar header is in a pax record (POSIX.1-2001, pax, "pax Interchange
/// Format"), holes are in GNU's sparse format 1.0, an attribute is a record `SCHILY.xattr.NAME`. Format.md has the
/// list.
public struct TarEntry: Sendable {
    /// An extended attribute.
    public struct Attribute: Hashable, Sendable {
        public var name, value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            (self.name, self.value) = (name, value)
        }
    }

    /// The type of an entry. A socket is a file with an attribute, as tar has no type for it.
    public enum Kind: Hashable, Sendable {
        /// - Parameter data: the ranges that are not holes: ascending, not empty, not adjacent.
        case file(length: Int64, data: [Range<Int64>])
        case directory
        case symbolicLink([UInt8])
        /// The target is a path in the archive.
        case hardLink([UInt8])
        case fifo
    }

    /// The limit of a file in bytes; a device has files of at most 2 TiB.
    public static let longestContent: Int64 = 4 << 40
    /// The limit of ranges between holes, which keeps the map of holes below ``TarReader``'s limit for headers.
    public static let mostPieces = 2_000_000
    /// The limit in bytes of an entry's attributes, which keeps its extended header below the 1 MiB that libarchive
    /// reads.
    public static let mostAttributes = 800_000

    /// Without NUL, and for a directory without the slash at the end.
    public var path: [UInt8]
    public var kind: Kind
    public var permissions: mode_t = 0o600
    public var owner: uid_t = 0
    public var group: gid_t = 0
    public var modified = timespec()
    /// Sorted by the bytes of the name.
    public var attributes: [Attribute] = []

    /// A file without holes, of root.
    public init(path: [UInt8], length: Int64) {
        self.init(path: path, kind: TarEntry.file(length))
    }

    public init(path: [UInt8], kind: Kind) {
        (self.path, self.kind) = (path, kind)
    }

    /// The kind of a file without holes.
    public static func file(_ length: Int64) -> Kind { .file(length: length, data: length == 0 ? [] : [0..<length]) }

    /// Joins adjacent ranges, and drops empty ones.
    /// - Throws: ``ArchiveFlaw`` for ranges that overlap, descend, or lie outside the file.
    public static func joined(_ data: [Range<Int64>], length: Int64) throws(ArchiveFlaw) -> [Range<Int64>] {
        var joined: [Range<Int64>] = []
        var end: Int64 = 0
        for range in data {
            guard range.lowerBound >= end, range.upperBound <= length else {
                throw ArchiveFlaw("has a file whose map of holes contradicts itself")
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
    public var encoded: [UInt8] {
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
    public var digest: [UInt8] { HashFunction.sha256.digest(of: encoded) }
}
