// Notifications to the kernel, which caches names, attributes and content of this filesystem.

import Platform
public import SandboxModel

/// Notifications that make the kernel drop what it caches, when the filesystem changes behind the kernel's back.
///
/// Each method queues its notification and returns at once: a request may be waiting for the lock that the kernel takes
/// to obey.
public protocol KernelCache: AnyObject, Sendable {
    /// An entry was made or removed.
    func forgetEntry(_ name: FileName, in parent: NodeID)
    /// An entry was removed some time ago.
    /// - Parameter isBack: asked before the kernel is notified: whether a new entry has the name.
    func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool)
    /// The kernel must look a name up before it relies on it again. It keeps what it caches below.
    func expireEntry(_ name: FileName, in parent: NodeID)
    /// A directory has another place. The kernel learns it by a lookup there; processes in the directory move with it.
    func follow(_ directory: NodeID)
    /// Content and attributes changed.
    func forgetContent(of node: NodeID)
    /// A range of the content differs from the kernel's pages.
    func forgetContent(of node: NodeID, _ range: Range<Int64>)
    /// The kernel must ask before it relies on a file's attributes again.
    func forgetStatus(of node: NodeID)
    /// As ``forgetStatus(of:)``, but the kernel has obeyed when this returns. For a request on the node itself.
    func forgetStatusAtOnce(of node: NodeID)
    /// A write that the kernel had accepted from an application was refused. Called with locks of the volume held.
    func lost(_ loss: LostRange)
}

extension KernelCache {
    public func forgetStatusAtOnce(of node: NodeID) { forgetStatus(of: node) }
}

/// The kernel cache of a volume: nil until the volume is mounted, and after its end.
///
/// Lock rule: its lock is a leaf, held only to copy the reference.
final class KernelCacheReference: Sendable {
    private let cache = ShortLock<(any KernelCache)?>(nil)

    var current: (any KernelCache)? {
        get { cache.withLock { $0 } }
        set { cache.withLock { $0 = newValue } }
    }
}
