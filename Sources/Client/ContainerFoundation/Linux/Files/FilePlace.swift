// An open directory and a name in it, so that renames of directories above do not affect a series of calls.

import Glibc
import Platform
import SandboxModel

final class FilePlace {
    let directory: Descriptor
    let name: FileName

    /// - Parameter path: from the root; links in it are followed, but for the last name.
    init(_ path: String) throws(SystemError) {
        guard let place = HostPath.place(of: path) else {
            let name = path.utf8.split(separator: UInt8(ascii: "/")).last
            throw (name?.count ?? 0) > FileName.maximumLength ? .nameTooLong : .isDirectory
        }
        directory = try Descriptor.openDirectory(path: place.directory)
        name = place.name
    }

    /// Another name in the directory of a place.
    init(_ name: FileName, beside place: FilePlace) throws(SystemError) {
        directory = try place.directory.duplicate()
        self.name = name
    }

    var attributes: AttributeHolder { AttributeHolder(name, in: directory) }

    /// As ``AttributeHolder/mountedProtection``.
    var mountedProtection: ProtectionClass? { attributes.mountedProtection }

    func status() throws(SystemError) -> FileStatus { try directory.status(of: name) }

    /// nil if there is no such item.
    func statusIfThere() throws(SystemError) -> FileStatus? { try directory.exists(name) ? try status() : nil }

    /// The same name in the same directory.
    func isSame(as other: FilePlace) throws(SystemError) -> Bool {
        guard name == other.name else { return false }
        return try directory.status().identity == other.directory.status().identity
    }

    /// Whether another place is a directory that contains this place, at any depth. Checked from the open directory,
    /// not from the path that led to it.
    func isInside(_ other: FilePlace) throws(SystemError) -> Bool {
        let status = try other.status()
        guard status.kind == .directory else { return false }
        return try HostPath.holds(status.identity, "/proc/self/fd/\(directory.number)")
    }
}
