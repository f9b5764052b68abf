// The inodes that the kernel knows, each with a descriptor that keeps it reachable.

import FuseBridge
import Platform
import Synchronization

/// An inode of the source. Its descriptor is closed with the object.
final class Node: Sendable {
    /// O_PATH, so that it costs no rights and follows the file through every rename.
    let descriptor: Descriptor
    let identity: FileStatus.Identity
    /// Of a directory that is being read: the reader, where the last READDIR left it.
    let listing = Mutex<DirectoryListing?>(nil)

    init(_ descriptor: consuming Descriptor, _ identity: FileStatus.Identity) {
        self.descriptor = descriptor
        self.identity = identity
    }
}

/// The nodes by the kernel's numbers. A number is never used again.
///
/// Locks: `state` is a leaf, held for moments. No descriptor is opened or closed while it is held.
final class NodeTable: Sendable {
    private struct Entry {
        let node: Node
        /// Replies with an entry, less what FORGET has given back.
        var references: UInt64
    }

    private struct State {
        var entries: [KernelNode: Entry]
        /// The numbers of all entries. An inode number of the host is not used again while a node has the inode open.
        var numbers: [FileStatus.Identity: KernelNode]
        var next = KernelNode.root.rawValue + 1
    }

    private let state: ShortLock<State>

    init(root: Node) {
        state = ShortLock(
            State(entries: [.root: Entry(node: root, references: 1)], numbers: [root.identity: .root]))
    }

    /// The number of nodes, the root included.
    var count: Int { state.withLock { $0.entries.count } }

    subscript(number: KernelNode) -> Node? { state.withLock { $0.entries[number]?.node } }

    /// Adds a reference to the node of an inode.
    /// - Parameter candidate: becomes the node if there is none.
    func addReference(to candidate: Node) -> KernelNode {
        state.withLock { state in
            if let known = state.numbers[candidate.identity] {
                // FORGET does not touch the root's references, so they need not be counted.
                if known != .root { state.entries[known]?.references += 1 }
                return known
            }
            let number = KernelNode(rawValue: state.next)
            state.next += 1
            state.entries[number] = Entry(node: candidate, references: 1)
            state.numbers[candidate.identity] = number
            return number
        }
    }

    /// Drops references.
    /// - Returns: the node if these were its last.
    func removeReferences(to number: KernelNode, count: UInt64) -> Node? {
        guard number != .root else { return nil }
        return state.withLock { state in
            guard let entry = state.entries[number] else { return nil }
            guard entry.references <= count else {
                state.entries[number]?.references = entry.references - count
                return nil
            }
            state.entries[number] = nil
            state.numbers[entry.node.identity] = nil
            return entry.node
        }
    }
}
