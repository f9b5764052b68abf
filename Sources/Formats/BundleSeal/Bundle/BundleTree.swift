// The list of all entries of a bundle's directory.

import Glibc
public import Platform
public import SandboxModel

/// A bundle's directory with everything below it, as it was when the tree was made.
public struct BundleTree: Sendable {
    /// A file, directory or link of the bundle.
    public struct Entry: Sendable {
        /// From the bundle's directory.
        public let path: [FileName]
        /// As lstat(2) gives it.
        public let status: FileStatus
        /// The target of a symbolic link; empty for other entries.
        public let target: [UInt8]

        /// Whether the entry lies at the top of the bundle and its name has exactly these bytes.
        func lies(at name: FileName?) -> Bool { path.count == 1 && path[0] == name }

        /// The path as a seal holds it; nil if it is not UTF-8, so that no seal can name it.
        var sealPath: String? { String(validating: path.joined, as: UTF8.self) }
    }

    public let root: SharedDescriptor
    /// All entries; a directory comes before its content.
    public let entries: [Entry]

    /// Lists a directory and all directories below it, without following links.
    public init(of root: SharedDescriptor) throws(SystemError) {
        self.root = root
        var entries: [Entry] = []
        var pending: [[FileName]] = [[]]
        while let path = pending.popLast() {
            let directory = try root.descriptor.openDirectory(at: path)
            let reader = try directory.entries()
            while let listed = try reader.next() {
                let status = try directory.status(of: listed.name)
                let isLink = status.kind == .symbolicLink
                let target = isLink ? try directory.symbolicLinkTarget(listed.name) : []
                entries.append(Entry(path: path + [listed.name], status: status, target: target))
                if status.kind == .directory { pending.append(path + [listed.name]) }
            }
        }
        self.entries = entries
    }

    /// Opens a file of the tree for reading.
    /// - Throws: EINVAL if the entry is no longer a file.
    public func open(_ entry: Entry) throws(SystemError) -> Descriptor {
        try root.descriptor.openFile(at: entry.path)
    }
}

extension Descriptor {
    /// Opens a regular file below this directory for reading, without following links.
    /// - Throws: EISDIR for an empty path, EINVAL for anything but a regular file.
    borrowing func openFile(at path: [FileName]) throws(SystemError) -> Descriptor {
        guard let name = path.last else { throw .isDirectory }
        // O_NONBLOCK: opening a fifo would wait for a writer.
        let file = try openDirectory(at: path.dropLast()).open(name, flags: O_RDONLY | O_NONBLOCK)
        guard try file.status().kind == .file else { throw .invalid }
        return file
    }
}
