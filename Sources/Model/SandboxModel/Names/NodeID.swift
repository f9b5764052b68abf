// FUSE node IDs: the numbers by which the kernel knows the inodes of a mount.

/// A node ID: a slot of the node table, the epoch in which the ID was assigned, and a tag.
///
/// A restart of the device begins a new epoch, in which every path gets a new node. Nodes of older epochs that the
/// kernel still holds give metadata, but never content. So two nodes of different epochs may refer to one backing file.
public struct NodeID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// - Parameter tag: tells apart nodes of different mounts, whose file handles processes may have kept.
    public init(slot: UInt32, epoch: UInt16, tag: UInt16 = 0) {
        rawValue = UInt64(epoch) << NodeID.epochShift | UInt64(tag) << NodeID.tagShift | UInt64(slot)
    }

    /// FUSE_ROOT_ID, in every epoch.
    public static let root = NodeID(rawValue: 1)

    /// 2^32 nodes can exist at once, and 2^16 restarts of a mounted device can be told apart.
    private static let tagShift: UInt64 = 32
    private static let epochShift: UInt64 = 48

    public var slot: UInt64 { UInt64(UInt32(truncatingIfNeeded: rawValue)) }
    public var epoch: UInt16 { UInt16(truncatingIfNeeded: rawValue >> NodeID.epochShift) }
}
