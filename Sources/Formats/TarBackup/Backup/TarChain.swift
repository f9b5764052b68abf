// An incremental backup and those that it continues, which are found by what it says of them.

import BackupModel
import Glibc
import Platform
import SandboxModel

enum TarChain {
    /// More are a mistake, or somebody's joke.
    static let longest = 32

    /// Opens a backup and all that it continues, the named one first.
    /// - Parameter base: where the backup lies that it continues, if not where it says.
    static func open(_ path: String, base: String? = nil, scratch: String) throws(Complaint) -> [TarArchive] {
        var archives = [try TarArchive(path, scratch: scratch)]
        var explicit = base
        while let last = archives.last, let wanted = last.description.base {
            guard archives.count < longest else {
                throw last.flaw(BackupFlaw("continues more than \(longest) others; make a full backup"))
            }
            let place = explicit ?? RelativePath.resolve(wanted.file, beside: last.path)
            explicit = nil
            let next: TarArchive
            do throws(Complaint) {
                next = try TarArchive(place, scratch: scratch)
            } catch {
                guard error.kind == .notFound else { throw error }
                throw Complaint(
                    .notFound, "\(last.name) continues \(place.utf8.shown), which is not there; put it back there")
            }
            guard wanted.identity == next.manifest.end.digest.hexadecimal else {
                throw last.flaw(
                    BackupFlaw("continues another backup than \(place.utf8.shown) is; put that in its place"))
            }
            archives.append(next)
        }
        return archives
    }
}

/// Paths from one file to another, so that both can be moved together.
enum RelativePath {
    static func from(_ directory: String, to file: String) throws(Complaint) -> String {
        let (start, end) = try Complaint.wrap("cannot find \(file)") { () throws(SystemError) in
            (try HostPath.resolved(directory), try HostPath.resolved(file))
        }
        var (up, down) = (start.split(separator: "/")[...], end.split(separator: "/")[...])
        while let first = up.first, first == down.first {
            up.removeFirst()
            down.removeFirst()
        }
        return (up.map { _ in ".." } + down.map(String.init)).joined(separator: "/")
    }

    static func resolve(_ path: String, beside file: String) -> String {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return file[...slash] + path
    }
}
