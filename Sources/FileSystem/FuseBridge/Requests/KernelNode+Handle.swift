// The kernel's own handle of a node (`fuse_encode_fh` in fs/fuse/inode.c).

public import Platform

extension KernelNode {
    /// `FILEID_INO64_GEN` of include/linux/exportfs.h.
    private static let handleType: Int32 = 0x81

    /// By which the kernel finds the node without a request, as long as it remembers it.
    /// - Parameter generation: as the answer to a lookup gave it.
    public func handle(generation: UInt32) -> ExportedHandle {
        let words = [UInt32(truncatingIfNeeded: rawValue >> 32), UInt32(truncatingIfNeeded: rawValue), generation]
        let bytes = words.flatMap { word in unsafe withUnsafeBytes(of: word) { unsafe Array($0) } }
        return ExportedHandle(type: KernelNode.handleType, bytes: bytes)
    }
}
