// Paths in an archive: the domain's name, then the path from the container.

import BackupModel
import SandboxModel
import TarFormat

/// The path of an entry as bytes: `AppDomain-com.example.Notes/Documents/a`, for a directory without a slash at the
/// end.
enum ArchivePath {
    /// The limit in bytes. It is above PATH_MAX, because deeper trees can be made name by name.
    static let longest = 64 << 10

    private static let slash = UInt8(ascii: "/")

    /// Makes a path.
    /// - Throws: ``ArchiveFlaw`` for a path over the limit, and for a domain that is no directory name.
    static func bytes(_ domain: BackupDomain, _ path: [FileName]) throws(ArchiveFlaw) -> [UInt8] {
        let name = domain.name
        guard FileName(name) != nil, name != BackupDescription.directory.text else {
            throw ArchiveFlaw("cannot hold a domain named \(name.utf8.shown)")
        }
        var bytes = Array(name.utf8)
        for component in path {
            bytes.append(slash)
            bytes += component.bytes
        }
        guard bytes.count <= longest else {
            throw ArchiveFlaw("cannot hold \(bytes.shown): its path has more than \(longest) bytes")
        }
        return bytes
    }

    /// Splits a path of an archive, which is untrusted.
    /// - Throws: ``ArchiveFlaw`` for absolute paths, for `.` and `..`, and for paths without a domain.
    static func parse(_ bytes: [UInt8]) throws(ArchiveFlaw) -> (domain: BackupDomain, path: [FileName]) {
        guard bytes.count <= longest else { throw ArchiveFlaw("has too long a path: \(bytes.shown)") }
        guard bytes.first != slash else { throw ArchiveFlaw("has a path from the root: \(bytes.shown)") }
        guard let names = [FileName](joined: bytes), let first = names.first else {
            throw ArchiveFlaw("has a path that is none, or leads out: \(bytes.shown)")
        }
        guard let domain = String(validating: first.bytes, as: UTF8.self), domain != BackupDescription.directory.text
        else { throw ArchiveFlaw("has an entry that is in no domain: \(bytes.shown)") }
        return (BackupDomain(name: domain), Array(names.dropFirst()))
    }

    /// Whether one path comes before another in a walk: a directory before its content, which is sorted by name. For
    /// that a slash counts as less than any other byte; no name has a NUL.
    static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let shared = min(left.count, right.count)
        var index = 0
        while index < shared {
            let (a, b) = (left[index], right[index])
            if a != b { return (a == slash ? 0 : a) < (b == slash ? 0 : b) }
            index += 1
        }
        return left.count < right.count
    }
}
