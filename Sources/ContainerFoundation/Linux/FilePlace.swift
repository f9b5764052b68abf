// Where something is: a directory that is open, and a name in it. No rename above leads a series of calls astray.

import Glibc
import Platform
import SandboxModel

final class FilePlace {
    let directory: Descriptor
    let directoryPath: String
    let name: FileName

    /// - Parameter path: from the root; links in it are followed, but for the last name.
    init(_ path: String) throws(SystemError) {
        guard let place = HostPath.place(of: path) else {
            let name = path.utf8.split(separator: UInt8(ascii: "/")).last
            throw (name?.count ?? 0) > FileName.maximumLength ? .nameTooLong : .isDirectory
        }
        directory = try Descriptor.openDirectory(path: place.directory)
        directoryPath = place.directory
        name = place.name
    }

    func status() throws(SystemError) -> FileStatus { try directory.status(of: name) }

    /// nil where nothing is there.
    func statusIfThere() throws(SystemError) -> FileStatus? { try directory.exists(name) ? try status() : nil }
}
