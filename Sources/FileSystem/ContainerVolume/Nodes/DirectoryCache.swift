// Descriptors of recently used directories: a bounded number, whatever the size of the tree.

import Platform
import SandboxModel
import Synchronization

/// Keeps directories open, so that a call on an entry is one system call on the host.
///
/// Lock rule: its lock is innermost, like the node table's, and guards `Node.directory` too. No descriptor is closed
/// while it is held.
final class DirectoryCache: Sendable {
    private static let capacity = 512

    private struct Ring {
        var nodes: [Node?] = Array(repeating: nil, count: DirectoryCache.capacity)
        var next = 0
    }

    private let ring = Mutex(Ring())

    /// The descriptor of a directory, if it is in the cache.
    func descriptor(of node: Node) -> SharedDescriptor? {
        ring.withLock { _ in node.directory }
    }

    /// Keeps a descriptor in place of the oldest one.
    func keep(_ descriptor: SharedDescriptor, for node: Node) {
        if DescriptorReserve.holds(descriptor.descriptor.number) { return }
        // The oldest descriptor is closed after the lock is released.
        var evicted: SharedDescriptor?
        ring.withLock { ring in
            guard node.directory == nil else { return }
            if let old = ring.nodes[ring.next] {
                evicted = old.directory
                old.directory = nil
            }
            node.directory = descriptor
            ring.nodes[ring.next] = node
            ring.next = (ring.next + 1) % DirectoryCache.capacity
        }
        _ = evicted
    }

    /// Drops the descriptor of a directory that was removed.
    func drop(_ node: Node) {
        var evicted: SharedDescriptor?
        ring.withLock { ring in
            evicted = node.directory
            node.directory = nil
            if let index = ring.nodes.firstIndex(where: { $0 === node }) { ring.nodes[index] = nil }
        }
        _ = evicted
    }

    /// Drops the descriptors of all directories below one. The caller holds the volume's `names`.
    func dropAll(below directory: Node) {
        var evicted: [SharedDescriptor?] = []
        ring.withLock { ring in
            for index in ring.nodes.indices {
                var above = ring.nodes[index]?.parent
                while let next = above, next !== directory { above = next.parent }
                guard above != nil, let node = ring.nodes[index] else { continue }
                evicted.append(node.directory)
                node.directory = nil
                ring.nodes[index] = nil
            }
        }
        _ = evicted
    }
}
