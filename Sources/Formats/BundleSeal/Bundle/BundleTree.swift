// All that lies in a bundle's directory, looked at once.

import Glibc
public import Platform
public import SandboxModel

/// A bundle's directory and what is in it, however deep.
public struct BundleTree: Sendable {
    public struct Entry: Sendable {
        /// From the bundle's directory.
        public let path: [FileName]
        public let status: FileStatus
        /// Of a symbolic link.
        public let target: [UInt8]

        /// Whether it lies at the top of the bundle, under a name of just these bytes.
        func lies(at name: FileName?) -> Bool { path.count == 1 && path[0] == name }

        /// The path as seals write it; nil when it is not UTF-8, which no seal can name.
        var sealPath: String? { String(validating: path.joined, as: UTF8.self) }
    }

    public let root: SharedDescriptor
    /// A directory comes before what lies in it.
    public let entries: [Entry]

    /// Looks through a directory without following links.
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
    /// - Throws: EINVAL when it is no file any more.
    public func open(_ entry: Entry) throws(SystemError) -> Descriptor {
        try root.descriptor.openFile(at: entry.path)
    }
}

extension Descriptor {
    /// Opens a regular file below this directory for reading, without following links.
    borrowing func openFile(at path: [FileName]) throws(SystemError) -> Descriptor {
        guard let name = path.last else { throw .isDirectory }
        // Not blocking, for something that is no file at all.
        let file = try openDirectory(at: path.dropLast()).open(name, flags: O_RDONLY | O_NONBLOCK)
        guard try file.status().kind == .file else { throw .invalid }
        return file
    }
}
