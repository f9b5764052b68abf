// The bytes of the host that an inode counts for.

public import Platform

/// How many bytes of the host an inode counts for: the same at every call, so that counted bytes can be subtracted
/// again.
public struct SpaceWeights: Sendable {
    /// Each directory counts for an empty one: directories grow without notice, and never shrink.
    public let directory: Int64
    /// Whether the host allocates ahead of a growing file, and frees that some time after the file is closed.
    private let allocatesAhead: Bool

    /// Block size of such a host, in bytes. It merely equals that of ``ContentLayout``.
    private static let hostBlockSize: Int64 = 4096
    /// The unit of `st_blocks`, in bytes.
    private static let sectorSize: Int64 = 512

    public init(directory: Int64 = 0, allocatesAhead: Bool = false) {
        self.directory = directory
        self.allocatesAhead = allocatesAhead
    }

    /// - Parameters:
    ///   - type: of the host's filesystem, as `f_type` of statfs(2).
    ///   - blockSize: of the host's filesystem, in bytes.
    public init(ofFilesystem type: Int64, blockSize: Int64) {
        self.init(directory: type == SpaceWeights.ext4 ? blockSize : 0, allocatesAhead: type == SpaceWeights.xfs)
    }

    // EXT4_SUPER_MAGIC and XFS_SUPER_MAGIC of <linux/magic.h>.
    private static let ext4: Int64 = 0xEF53
    private static let xfs: Int64 = 0x5846_5342

    /// The bytes that an inode counts for, by its status.
    public func bytes(_ status: FileStatus) -> Int64 {
        switch status.kind {
        case .directory: directory
        case .file: bytes(blocks: status.blocks, size: status.size)
        case .symbolicLink, .fifo, .socket, .device: status.blocks * SpaceWeights.sectorSize
        }
    }

    /// - Parameter blocks: `st_blocks` of a file.
    func bytes(blocks: Int64, size: Int64) -> Int64 {
        let allocated = blocks * SpaceWeights.sectorSize
        guard allocatesAhead else { return allocated }
        let block = SpaceWeights.hostBlockSize
        return min(allocated, (size + block - 1) / block * block)
    }
}
