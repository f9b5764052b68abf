// Files that are whole when they get their name, and files that never get one.

public import Glibc
public import SandboxModel

/// A file under a random name of its own, made new, until it gets its real name or is given up.
public final class UnfinishedFile {
    public let file: SharedDescriptor
    /// For whoever wants a path, as long as it has one.
    public let path: String
    private let directory: Descriptor
    private var name: FileName?

    /// - Parameter directory: where it is to have its real name, too.
    public init(in directory: String, mode: mode_t = S_IRUSR | S_IWUSR) throws(SystemError) {
        self.directory = try Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY)
        let name = FileName(".appcontainer-\(Entropy.bytes(8).hexadecimal)")!
        path = "\(directory)/\(name.text)"
        file = SharedDescriptor(try self.directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode))
        self.name = name
    }

    deinit {
        if let name { try? directory.removeFile(name) }
    }

    /// Takes its name away: from then on it lives as long as it is open.
    public func removeName() throws(SystemError) {
        if let name { try directory.removeFile(name) }
        name = nil
    }

    /// Gives it its real name, durably.
    /// - Parameter mode: what becomes of something else that has that name.
    public func rename(to newName: FileName, mode: Descriptor.RenameMode) throws(SystemError) {
        guard let name else { preconditionFailure("the file has no name any more") }
        try file.descriptor.synchronize()
        do throws(SystemError) {
            try directory.rename(name, to: newName, in: directory, mode: mode)
        } catch {
            // Filesystems that know no RENAME_NOREPLACE.
            guard error == .invalid, mode == .keeping else { throw error }
            try directory.link(name, to: newName, in: directory)
            try directory.removeFile(name)
        }
        self.name = nil
        try directory.synchronize()
    }
}
