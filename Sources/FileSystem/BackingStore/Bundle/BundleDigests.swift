// What was verified of a bundle when it was installed: the list that every later read is held against.

public import Glibc
public import Platform
public import SandboxModel

/// A bundle's entries, with the digests of its files. The list is authenticated with a key of the device.
public struct BundleDigests: Sendable {
    public struct File: Equatable, Sendable {
        public let size: Int64
        /// Where the file's hash tree begins in the file of all trees; content of one block or none has no tree.
        public let treeOffset: Int64
        /// The digest in the form of fs-verity.
        public let digest: [UInt8]
        /// By what a quick look knows that nobody has written to the backing copy.
        public var trace: Trace

        public init(size: Int64, treeOffset: Int64, digest: [UInt8], trace: Trace) {
            self.size = size
            self.treeOffset = treeOffset
            self.digest = digest
            self.trace = trace
        }
    }

    /// What changes about a file of the host when somebody writes to it, or puts another in its place.
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

    public enum Content: Equatable, Sendable {
        case directory
        case symbolicLink(target: [UInt8])
        case file(File)
    }

    public struct Entry: Sendable {
        /// From the bundle's directory, which itself has none.
        public let path: [FileName]
        public let permissions: mode_t
        public let modified: HostTime
        public var content: Content

        public init(path: [FileName], permissions: mode_t, modified: HostTime, content: Content) {
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

    /// The bundle's own directory first; a directory comes before what lies in it.
    public var entries: [Entry]

    public init(entries: [Entry]) {
        self.entries = entries
    }

    /// Beside the bundle in its container.
    public static let fileName: FileName = "Digests"
    public static let treesName: FileName = "HashTrees"
}
