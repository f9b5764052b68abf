// FUSE node IDs: the numbers by which the kernel knows the inodes of a mount.

/// A node ID: a slot of the node table and the epoch in which the ID was assigned.
///
/// A restart of the device begins a new epoch, in which every path gets a new node. Nodes of older epochs that the
/// kernel still holds give metadata, but never content. So two nodes of different epochs may refer to one backing file.
public struct NodeID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public init(slot: UInt64, epoch: UInt16) {
        precondition(slot < 1 << NodeID.slotBits)
        rawValue = UInt64(epoch) << NodeID.slotBits | slot
    }

    /// FUSE_ROOT_ID, in every epoch.
    public static let root = NodeID(rawValue: 1)

    /// Bits of the slot. 2^48 nodes can exist at once, and 2^16 restarts of a mounted device can be told apart.
    private static let slotBits: UInt64 = 48

    public var slot: UInt64 { rawValue & (1 << NodeID.slotBits - 1) }
    public var epoch: UInt16 { UInt16(truncatingIfNeeded: rawValue >> NodeID.slotBits) }
}
