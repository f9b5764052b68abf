// Descriptors of recently used directories: a bounded number, whatever the size of the tree.

import Platform
import SandboxModel

/// Keeps directories open, so that a call on an entry is one system call on the host.
///
/// Of the directories on the way down to a deep one, a few are kept as well, far apart: the way down to another deep
/// one begins there.
///
/// Lock rule: its lock is innermost, like the node table's, and guards `Node.directory` too. No descriptor is closed
/// while it is held.
final class DirectoryCache: Sendable {
    static let capacity = 512
    static let landmarks = 128

    private struct Ring {
        var nodes: [Node?]
        var next = 0

        init(_ capacity: Int) { nodes = Array(repeating: nil, count: capacity) }

        /// Adds a node in place of the oldest one.
        /// - Returns: the descriptor of that.
        mutating func add(_ node: Node) -> SharedDescriptor? {
            let evicted = nodes[next]?.directory
            nodes[next]?.directory = nil
            nodes[next] = node
            next = (next + 1) % nodes.count
            return evicted
        }

        /// Takes nodes out.
        /// - Returns: their descriptors.
        mutating func remove(where isGone: (Node) -> Bool) -> [SharedDescriptor?] {
            var evicted: [SharedDescriptor?] = []
            for index in nodes.indices {
                guard let node = nodes[index], isGone(node) else { continue }
                evicted.append(node.directory)
                node.directory = nil
                nodes[index] = nil
            }
            return evicted
        }
    }

    private struct Rings {
        var recent = Ring(DirectoryCache.capacity)
        var landmarks = Ring(DirectoryCache.landmarks)
    }

    private let rings = ShortLock(Rings())

    /// The descriptor of a directory, if it is in the cache.
    func descriptor(of node: Node) -> SharedDescriptor? {
        rings.withLock { _ in node.directory }
    }

    /// Keeps a descriptor in place of the oldest one.
    /// - Parameter isLandmark: whether it is one of few on a long way down.
    func keep(_ descriptor: SharedDescriptor, for node: Node, isLandmark: Bool = false) {
        if DescriptorReserve.holds(descriptor.descriptor.number) { return }
        // The oldest descriptor is closed after the lock is released.
        var evicted: SharedDescriptor?
        rings.withLock { rings in
            guard node.directory == nil else { return }
            evicted = isLandmark ? rings.landmarks.add(node) : rings.recent.add(node)
            node.directory = descriptor
        }
        _ = evicted
    }

    /// Drops the descriptor of a directory that was removed.
    func drop(_ node: Node) {
        var evicted: SharedDescriptor?
        rings.withLock { rings in
            guard node.directory != nil else { return }
            evicted = node.directory
            node.directory = nil
            if let index = rings.recent.nodes.firstIndex(where: { $0 === node }) { rings.recent.nodes[index] = nil }
            if let index = rings.landmarks.nodes.firstIndex(where: { $0 === node }) {
                rings.landmarks.nodes[index] = nil
            }
        }
        _ = evicted
    }

    /// Drops the descriptors of all directories of a scope. The caller holds the volume's `names`.
    func dropAll(in scope: Scope?) {
        var evicted: [SharedDescriptor?] = []
        rings.withLock { rings in
            evicted = rings.recent.remove { $0.scope === scope } + rings.landmarks.remove { $0.scope === scope }
        }
        _ = evicted
    }
}
