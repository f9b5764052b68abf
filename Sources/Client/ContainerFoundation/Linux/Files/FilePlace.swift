// Where something is: a directory that is open, and a name in it. No rename above leads a series of calls astray.

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

    /// nil where nothing is there.
    func statusIfThere() throws(SystemError) -> FileStatus? { try directory.exists(name) ? try status() : nil }

    /// The same name in the same directory.
    func isSame(as other: FilePlace) throws(SystemError) -> Bool {
        guard name == other.name else { return false }
        return try directory.status().identity == other.directory.status().identity
    }

    /// Whether what is at another place is a directory that this place is in, at whatever depth. Asked of the directory
    /// that is open, wherever it is by now, and not of the path that led to it.
    func isInside(_ other: FilePlace) throws(SystemError) -> Bool {
        let status = try other.status()
        guard status.kind == .directory else { return false }
        return try HostPath.holds(status.identity, "/proc/self/fd/\(directory.number)")
    }
}
