// Inputs as files, for code that reads files.

import Glibc
import Platform
import SandboxModel

/// A directory in memory for the files of one run, gone with the value.
struct InputDirectory: ~Copyable {
    let path: String
    let descriptor: Descriptor
    private let name: FileName

    init() throws {
        let name = FileName("appcontainer-fuzz-\(getpid())-\(UInt64.random(in: 0 ... .max))")!
        let path = "/dev/shm/\(name.text)"
        (self.name, self.path) = (name, path)
        try systemCall { unsafe mkdir(path, 0o700) }
        descriptor = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
    }

    deinit {
        if let parent = try? Descriptor.openDirectory(path: "/dev/shm") { _ = try? parent.removeTree(name) }
    }

    /// Writes a file.
    /// - Returns: its path.
    @discardableResult
    func add(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = try Descriptor.open(path: "\(path)/\(name)", flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try unsafe file.write(bytes.span.bytes, to: 0)
        return "\(path)/\(name)"
    }
}

/// An input as an open file without a name.
func openFile(_ bytes: [UInt8]) throws -> Descriptor {
    let directory = try InputDirectory()
    return try Descriptor.open(path: directory.add("input", bytes), flags: O_RDWR)
}
