// Notifications to the kernel, which caches names, attributes and content of this filesystem.

public import SandboxModel
import Synchronization

/// What the kernel keeps of this filesystem, and must let go of when it changes behind the kernel's back.
///
/// All of these return at once: a request may be waiting for the lock that the kernel takes to obey.
public protocol KernelCache: AnyObject, Sendable {
    /// An entry came or went.
    func forgetEntry(_ name: FileName, in parent: NodeID)
    /// An entry went some time ago.
    /// - Parameter isBack: whether something has the name again by the time at which the kernel is told.
    func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool)
    /// The kernel is to ask before it relies on a name again. It keeps what it caches below.
    func expireEntry(_ name: FileName, in parent: NodeID)
    /// A directory has come to another place, which the kernel learns by looking it up there. Those who are in it are
    /// where it is then.
    func follow(_ directory: NodeID)
    /// Content and attributes changed.
    func forgetContent(of node: NodeID)
    /// A range of the content is not what the kernel has of it.
    func forgetContent(of node: NodeID, _ range: Range<Int64>)
    /// The kernel is to ask before it relies on a file's attributes again.
    func forgetAttributes(of node: NodeID)
    /// What an application wrote, and the kernel took, was refused. Locks of the volume are held.
    func lost(_ loss: LostRange)
}

/// The kernel cache of a volume: nil until the volume is mounted, and after its end.
///
/// Lock rule: its lock is a leaf, held only to copy the reference.
final class KernelCacheReference: Sendable {
    private let cache = Mutex<(any KernelCache)?>(nil)

    var current: (any KernelCache)? {
        get { cache.withLock { $0 } }
        set { cache.withLock { $0 = newValue } }
    }
}
