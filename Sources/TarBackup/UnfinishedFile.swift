// Files that nobody else sees: a backup that is not whole yet, and lists too long for memory.

import Glibc
import Platform
import SandboxModel

/// A file under a name of its own, made new, until it gets its real name or is given up.
final class UnfinishedFile {
    let file: SharedDescriptor
    let directory: SharedDescriptor
    private var name: FileName?

    /// - Parameter directory: where it is to have its real name, too.
    init(in directory: SharedDescriptor) throws(SystemError) {
        self.directory = directory
        let name = FileName(".appcontainer-backup-" + Entropy.bytes(8).hexadecimal)!
        file = SharedDescriptor(
            try directory.descriptor.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        self.name = name
    }

    deinit {
        if let name { try? directory.descriptor.removeFile(name) }
    }

    /// Takes its name away: from then on it lives as long as it is open.
    func removeName() throws(SystemError) {
        if let name { try directory.descriptor.removeFile(name) }
        name = nil
    }

    /// Gives it its real name, durably, unless something else has that.
    func rename(to newName: FileName) throws(SystemError) {
        guard let name else { preconditionFailure("the file has no name any more") }
        try file.descriptor.synchronize()
        do throws(SystemError) {
            try directory.descriptor.rename(name, to: newName, in: directory.descriptor, mode: .keeping)
        } catch {
            // Filesystems that know no RENAME_NOREPLACE.
            guard error == .invalid else { throw error }
            try directory.descriptor.link(name, to: newName, in: directory.descriptor)
            try directory.descriptor.removeFile(name)
        }
        self.name = nil
        let listing = try directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY)
        try listing.synchronize()
    }
}
