// A file whose pages the kernel may hold.

public import SandboxModel

/// A file of which the kernel may hold pages.
public struct CachedFile: Sendable {
    public let node: NodeID
    /// The generation of the node's number, as the kernel knows it.
    public let generation: UInt32
    /// Whether a write(2) may be under way.
    public let mayBeWritten: Bool

    init(_ node: Node, mayBeWritten: Bool) {
        self.node = node.id
        generation = node.generation
        self.mayBeWritten = mayBeWritten
    }
}
