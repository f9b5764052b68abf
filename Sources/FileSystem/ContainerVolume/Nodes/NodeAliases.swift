// Secret names at the mount's root, by which the daemon reaches any node of its own mount, removed files included.
//
// The daemon waits for the end of a write(2) by a call on the file, through the mount, for which the kernel takes the
// inode's lock.

import Platform
public import SandboxModel
import Synchronization

/// Names at the root that lead to nodes, while they are open. No other process can know them: they are random, and the
/// kernel does not keep them.
///
/// Lock rule: the lock of the secret is a leaf. A lookup takes it only while the names are open.
final class NodeAliases: Sendable {
    private let isOpen = Atomic<Bool>(false)
    private let secret = Mutex<String>("")

    /// Makes new names valid.
    func open() {
        secret.withLock { $0 = ".\(Entropy.bytes(16).hexadecimal)-" }
        isOpen.store(true, ordering: .releasing)
    }

    func close() {
        isOpen.store(false, ordering: .releasing)
        secret.withLock { $0 = "" }
    }

    /// The name of a node, valid until ``close()``.
    func name(of node: NodeID) -> FileName {
        FileName(secret.withLock { $0 } + String(node.rawValue, radix: 16))!
    }

    /// The node that a name leads to; nil for any other name.
    func node(_ name: FileName) -> NodeID? {
        guard isOpen.load(ordering: .acquiring) else { return nil }
        let secret = secret.withLock { $0 }
        guard !secret.isEmpty, name.text.hasPrefix(secret) else { return nil }
        return UInt64(name.text.dropFirst(secret.count), radix: 16).map { NodeID(rawValue: $0) }
    }
}

extension Volume {
    /// Lets the daemon reach nodes by names at the root, new ones each time, until ``closeAliases()``.
    public func openAliases() { aliases.open() }

    public func closeAliases() { aliases.close() }

    /// The name at the root by which a node is reached.
    public func alias(of node: NodeID) -> FileName { aliases.name(of: node) }

    /// Looks up the node that a secret name leads to. The caller holds `names`.
    func enter(through name: FileName) throws(Fault) -> Entry? {
        guard let id = aliases.node(name), let node = table.lookUpAgain(id) else { return nil }
        do throws(Fault) {
            return try entryLocks.keepingPlace(of: node) { () throws(Fault) in
                Entry(
                    node: node.id, generation: UInt64(node.generation), status: try statuses.status(of: node),
                    mayCacheStatus: false, keepsName: false)
            }
        } catch {
            forget(id, count: 1)
            throw error
        }
    }
}
