// The state of an open file, and the handles of its descriptors.

import BackingStore
import Glibc
import Platform
public import SandboxModel

/// A file that at least one handle has open.
final class OpenFile {
    enum Content {
        case encrypted(EncryptedFile)
        /// A bundle's file, stored as it is, with a hash tree apart.
        case sealed(SealedFile)
        /// What the mount makes up.
        case synthetic(SyntheticFile)
    }

    let content: Content
    var handles = 0
    var writers = 0
    /// Who opened it for writing last, as far as that is known.
    var lastWriter: Opening?

    init(_ content: Content) {
        self.content = content
    }

    /// One handle more. The caller holds the node's open lock.
    func add(writing: Bool, by thread: pid_t) {
        handles += 1
        guard writing else { return }
        writers += 1
        lastWriter = Opening(by: thread) ?? lastWriter
    }
}

extension OpenFile.Content {
    /// The backing file, for what concerns its attributes; nil for what the host does not have.
    var backing: SharedDescriptor? {
        switch self {
        case .encrypted(let file): file.backing
        case .sealed(let file): file.backing
        case .synthetic: nil
        }
    }
}

extension OpenFile.Content: @unchecked Sendable {}

/// What `open` gives: the right to read, to write or both, for as long as the descriptor lives.
public final class FileHandle: Sendable {
    let node: Node
    let content: OpenFile.Content
    public let canWrite: Bool

    init(node: Node, content: OpenFile.Content, canWrite: Bool) {
        self.node = node
        self.content = content
        self.canWrite = canWrite
    }

    public var nodeID: NodeID { node.id }

    /// Whether the content is of class A.
    public var isComplete: Bool {
        if case .encrypted(let file) = content { file.isComplete } else { false }
    }

    /// Whether something was written to the file that was refused because its key had gone.
    public var hasLoss: Bool {
        if case .encrypted(let file) = content { file.hasLoss } else { false }
    }
}
