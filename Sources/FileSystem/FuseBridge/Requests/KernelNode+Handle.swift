// The file handle of a node, for open_by_handle_at(2), as the kernel encodes it (fs/fuse/inode.c, fuse_encode_fh).

public import Platform

extension KernelNode {
    /// `FILEID_INO64_GEN` of include/linux/exportfs.h.
    private static let handleType: Int32 = 0x81

    /// The handle by which the kernel opens the node without a request, as long as it keeps the inode.
    /// - Parameter generation: of the node's ``KernelEntry``.
    public func handle(generation: UInt32) -> ExportedHandle {
        let words = [UInt32(truncatingIfNeeded: rawValue >> 32), UInt32(truncatingIfNeeded: rawValue), generation]
        let bytes = words.flatMap { word in unsafe withUnsafeBytes(of: word) { unsafe Array($0) } }
        return ExportedHandle(type: KernelNode.handleType, bytes: bytes)
    }
}
