// The name by which the kernel knows one inode of a mount.

/// A node of the filesystem, as the kernel names it: a slot of the node table and the epoch it was given out in.
///
/// A device that restarts begins a new epoch: every path then gets a new node, and what the kernel still holds
/// under an older epoch answers for its metadata but never again for its content. Two nodes of different epochs
/// may therefore name one backing file.
public struct NodeID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public init(slot: UInt64, epoch: UInt16) {
        precondition(slot < 1 << NodeID.slotBits)
        rawValue = UInt64(epoch) << NodeID.slotBits | slot
    }

    /// FUSE gives the root the fixed number 1; it belongs to every epoch.
    public static let root = NodeID(rawValue: 1)

    /// 2^48 nodes can be known at once; 2^16 restarts of a mounted device can be told apart.
    private static let slotBits: UInt64 = 48

    public var slot: UInt64 { rawValue & (1 << NodeID.slotBits - 1) }
    public var epoch: UInt16 { UInt16(truncatingIfNeeded: rawValue >> NodeID.slotBits) }
}
