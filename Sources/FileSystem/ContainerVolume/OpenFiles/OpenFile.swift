// The state of an open file, and the handles of its descriptors.

import BackingStore
import Glibc
import Platform
public import SandboxModel

/// A file that at least one handle has open.
///
/// Lock rule: the node's open lock guards the counts and the last writer. The content never changes.
final class OpenFile {
    enum Content {
        case encrypted(EncryptedFile)
        /// A bundle's file, stored in plain, with a hash tree in another file.
        case sealed(SealedFile)
        /// Content that the host does not have.
        case synthetic(SyntheticFile)
    }

    let content: Content
    var handles = 0
    var writers = 0
    /// The last opening for writing, as far as it is known.
    var lastWriter: Opening?
    let mode = KnownMode()

    init(_ content: Content) {
        self.content = content
    }

    /// Adds a handle. The caller holds the node's open lock.
    func add(writing: Bool, by thread: pid_t) {
        handles += 1
        guard writing else { return }
        writers += 1
        lastWriter = Opening(by: thread) ?? lastWriter
    }
}

extension OpenFile.Content {
    /// The backing file, for calls on its attributes; nil for content that the host does not have.
    var backing: SharedDescriptor? {
        switch self {
        case .encrypted(let file): file.backing
        case .sealed(let file): file.backing
        case .synthetic: nil
        }
    }
}

extension OpenFile.Content: @unchecked Sendable {}

/// An open descriptor's right to read, to write or both. It holds the content, so that reading and writing need no lock
/// of the volume.
public final class FileHandle: Sendable {
    let node: Node
    let content: OpenFile.Content
    public let canWrite: Bool
    /// Whether the call that opened the file has made it.
    public let isNew: Bool

    init(node: Node, content: OpenFile.Content, canWrite: Bool, isNew: Bool = false) {
        self.node = node
        self.content = content
        self.canWrite = canWrite
        self.isNew = isNew
    }

    public var nodeID: NodeID { node.id }

    /// Whether the content is of class A.
    public var isComplete: Bool {
        if case .encrypted(let file) = content { file.isComplete } else { false }
    }

    /// Whether a part of the content cannot be read, because what the kernel wrote back was refused: for want of space,
    /// or because the key had gone.
    public var hasLoss: Bool {
        if case .encrypted(let file) = content { file.hasLoss } else { false }
    }
}
