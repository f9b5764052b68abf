// Relative paths between the files of a chain of backups.

import Platform
import SandboxModel

/// Paths from a backup to the one that it continues, so that both can be moved together.
enum RelativePath {
    /// The path of a file from a directory, both with links resolved.
    /// - Throws: ``Complaint`` with the host's error if one of them does not exist.
    static func from(_ directory: String, to file: String) throws(Complaint) -> String {
        let (start, end) = try Complaint.wrap("cannot find \(file)") { () throws(SystemError) in
            (try HostPath.resolved(directory), try HostPath.resolved(file))
        }
        var (up, down) = (HostPath.names(of: start)[...], HostPath.names(of: end)[...])
        while let first = up.first, let other = down.first, HostPath.areSame(first, other) {
            up.removeFirst()
            down.removeFirst()
        }
        return (up.map { _ in ".." } + down).joined(separator: "/")
    }

    /// The path that a relative path of a backup means.
    /// - Parameter file: the backup that has the relative path.
    static func resolve(_ path: String, beside file: String) -> String {
        guard let slash = HostPath.lastSlash(in: file) else { return path }
        return String(decoding: file.utf8[...slash], as: UTF8.self) + path
    }
}
