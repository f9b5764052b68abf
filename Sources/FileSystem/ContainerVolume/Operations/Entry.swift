// The result of a lookup, and the caller of an operation.

public import Glibc
public import Platform
public import SandboxModel

/// The result of a lookup, or of a call that makes an entry. It counts as one lookup of the node.
public struct Entry: Sendable {
    public let node: NodeID
    /// Tells apart two nodes that had the same id at different times.
    public let generation: UInt64
    public let status: FileStatus
    /// Whether the kernel may rely on the attributes until it is notified.
    public var mayCacheStatus = true
    /// Whether it may rely on the name.
    public var keepsName = true
}

/// File type and permission bits, `mode_t` of inode(7). A name of this module, because the optimizing compiler of Swift
/// 6.3.1 takes a public import that only `mode_t` needs for an unused one.
public typealias FileMode = mode_t

/// The credentials of a call, which a new file gets.
public struct Caller: Sendable {
    public let user: uid_t
    public let group: gid_t
    /// As gettid(2) returns it; 0 for the kernel itself, and for a thread that is not visible here.
    public let thread: pid_t

    public init(user: uid_t, group: gid_t, thread: pid_t) {
        self.user = user
        self.group = group
        self.thread = thread
    }
}
