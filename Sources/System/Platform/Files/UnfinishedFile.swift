// Files that get their name only when they are complete, or never.

import CPlatform
public import Glibc
public import SandboxModel

/// A new file under a random name, removed with this value unless it gets its real name.
public final class UnfinishedFile {
    /// Open for reading and writing.
    public let file: SharedDescriptor
    /// Valid while the file has its random name.
    public let path: String
    /// The path of the directory.
    private let place: String
    private let directory: Descriptor
    private var name: FileName?

    /// `openat(2)` with `O_CREAT | O_EXCL`.
    /// - Parameter directory: the directory in which the file is also to get its real name.
    /// - Throws: errors of open(2), such as EACCES and ENOSPC.
    public init(in directory: String, mode: mode_t = S_IRUSR | S_IWUSR) throws(SystemError) {
        place = directory
        let opened = try ActingUser.reaching(directory) { () throws(SystemError) in
            try Descriptor.openDirectory(byOwnLinks: try HostPath.absolute(directory))
        }
        let name = FileName(".appcontainer-\(Entropy.bytes(8).hexadecimal)")!
        path = "\(directory)/\(name.text)"
        file = try ActingUser.reaching(directory) { () throws(SystemError) in
            SharedDescriptor(try opened.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode))
        }
        self.directory = opened
        self.name = name
    }

    deinit {
        if let name { ActingUser.reaching(place) { try? directory.removeFile(name) } }
    }

    /// `unlinkat(2)` of the random name; the file then lives as long as it is open.
    public func removeName() throws(SystemError) {
        if let name {
            try ActingUser.reaching(place) { () throws(SystemError) in try directory.removeFile(name) }
        }
        name = nil
    }

    /// Gives the file its real name, durably: `fsync(2)`, `renameat2(2)`, `fsync(2)` of the directory. `linkat(2)` and
    /// `unlinkat(2)` where the filesystem knows no RENAME_NOREPLACE.
    /// - Parameter mode: what happens to an entry of that name.
    /// - Throws: EEXIST with `keeping` if there is one; errors of the host. Only an error of the last fsync(2) leaves
    ///   the file with its real name.
    public func rename(to newName: FileName, mode: Descriptor.RenameMode) throws(SystemError) {
        guard let name else { preconditionFailure("the file has no name any more") }
        try file.descriptor.synchronize()
        try ActingUser.reaching(place) { () throws(SystemError) in
            do throws(SystemError) {
                try directory.rename(name, to: newName, in: directory, mode: mode)
            } catch {
                // Filesystems that know no RENAME_NOREPLACE.
                guard error == .invalid, mode == .keeping else { throw error }
                try directory.link(name, to: newName, in: directory)
                try directory.removeFile(name)
            }
        }
        self.name = nil
        try directory.synchronize()
    }
}

extension Descriptor {
    /// `open(2)` with `O_TMPFILE`: a file without a name, which goes with its last descriptor, however that is closed.
    /// - Parameter directory: of the filesystem that has the file.
    /// - Throws: EOPNOTSUPP or EISDIR where the filesystem has no such files.
    public static func unnamedFile(in directory: String, mode: mode_t = S_IRUSR | S_IWUSR) throws(SystemError)
        -> Descriptor
    {
        try open(path: directory, flags: O_RDWR | platform_O_TMPFILE, mode: mode)
    }

    /// `linkat(2)` of /proc/self/fd/N: gives a file of ``unnamedFile(in:mode:)`` a name.
    /// - Throws: EEXIST.
    public borrowing func giveName(_ path: String) throws(SystemError) {
        let own = "/proc/self/fd/\(number)"
        try systemCall { unsafe linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) }
    }
}
