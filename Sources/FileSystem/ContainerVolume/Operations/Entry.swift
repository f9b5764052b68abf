// The result of a lookup, and the caller of an operation.

public import Glibc
public import Platform
public import SandboxModel

/// What a lookup, or a call that makes a node, gives to the kernel.
public struct Entry: Sendable {
    public let node: NodeID
    /// Tells apart two nodes that had the same id at different times.
    public let generation: UInt64
    public let status: FileStatus
    /// Whether the kernel may rely on the attributes until it is told otherwise.
    public var keepsAttributes = true
    /// Whether it may rely on the name.
    public var keepsName = true
}

/// File type and permission bits, `mode_t` of inode(7). A name of this module, because the optimizing compiler of Swift 6.3.1
/// takes a public import that only `mode_t` needs for an unused one.
public typealias FileMode = mode_t

/// Who makes a call: the credentials that a new file belongs to.
public struct Caller: Sendable {
    public let user: uid_t
    public let group: gid_t
    public let process: pid_t

    public init(user: uid_t, group: gid_t, process: pid_t) {
        self.user = user
        self.group = group
        self.process = process
    }
}
