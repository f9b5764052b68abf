// The filesystem of one device, without a mount: what each system call does to the containers.

public import BackingStore
public import Platform
public import SandboxModel

/// What a lookup, or a call that makes a node, gives to the kernel.
public struct Entry: Sendable {
    public let node: NodeID
    /// Tells apart two nodes that had the same id at different times.
    public let generation: UInt64
    public let status: FileStatus
}

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

/// What setattr changes; nil leaves a value as it is.
public struct AttributeChange: Sendable {
    public enum Time: Sendable {
        case now
        case at(timespec)
    }

    public var mode: mode_t?
    public var owner: uid_t?
    public var group: gid_t?
    public var size: Int64?
    public var accessTime: Time?
    public var modificationTime: Time?

    public init() {}
}
