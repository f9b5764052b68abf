// The digests of an installed bundle: the list that every later read is verified with.

import Glibc
public import Platform
public import SandboxModel

/// A bundle's entries as they were verified at the installation, with the digests of its files. The list is
/// authenticated with a key of the device.
public struct BundleDigests: Sendable {
    public struct File: Equatable, Sendable {
        public let size: Int64
        /// Offset of the file's hash tree in the file of all trees. Content of one block or none has no tree.
        public let treeOffset: Int64
        /// The digest, in the form of fs-verity.
        public let digest: [UInt8]
        /// The backing copy's status when it was last read as a whole. While it is the same, nobody has written to the
        /// copy.
        public var trace: Trace

        public init(size: Int64, treeOffset: Int64, digest: [UInt8], trace: Trace) {
            self.size = size
            self.treeOffset = treeOffset
            self.digest = digest
            self.trace = trace
        }
    }

    /// The status of a host's file that a write or a replacement changes.
    /// A program that sets the modification time back still changes the time of the status change.
    public struct Trace: Equatable, Sendable {
        let inode: UInt64
        let modified: HostTime
        let changed: HostTime

        public init(_ status: FileStatus) {
            inode = status.inode
            modified = HostTime(status.raw.st_mtim)
            changed = HostTime(status.raw.st_ctim)
        }

        init(inode: UInt64, modified: HostTime, changed: HostTime) {
            self.inode = inode
            self.modified = modified
            self.changed = changed
        }
    }

    /// The kinds of entries that a bundle can have.
    public enum Content: Equatable, Sendable {
        case directory
        case symbolicLink(target: [UInt8])
        case file(File)
    }

    public struct Entry: Sendable {
        /// The path from the bundle's directory; empty for that itself.
        public let path: [FileName]
        /// A mode_t.
        public let permissions: UInt32
        public let modified: HostTime
        public var content: Content

        public init(path: [FileName], permissions: UInt32, modified: HostTime, content: Content) {
            self.path = path
            self.permissions = permissions
            self.modified = modified
            self.content = content
        }

        public var kind: FileStatus.Kind {
            switch content {
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .file: .file
            }
        }
    }

    /// The bundle's own directory first, each directory before its entries.
    public var entries: [Entry]

    public init(entries: [Entry]) {
        self.entries = entries
    }

    /// The files of list and trees, beside the bundle in its container.
    public static let fileName: FileName = "Digests"
    public static let treesName: FileName = "HashTrees"
}
