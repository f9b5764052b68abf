// The replies that are plain values. Each request has its reply type, so it cannot get the reply of another.

import CFuse
import Glibc
public import Platform

/// A name's node and status, as LOOKUP returns them. Each reply with an entry gives the kernel one more reference to
/// the node, which it drops by FORGET.
public struct KernelEntry: Sendable {
    public var node: KernelNode
    /// Distinguishes two nodes that had the same number at different times.
    public var generation: UInt64
    public var status: FileStatus
    /// Seconds for which the kernel may cache the name.
    public var nameTimeout: Double
    /// Seconds for which the kernel may cache the status.
    public var statusTimeout: Double

    public init(
        node: KernelNode, generation: UInt64, status: FileStatus, nameTimeout: Double, statusTimeout: Double
    ) {
        self.node = node
        self.generation = generation
        self.status = status
        self.nameTimeout = nameTimeout
        self.statusTimeout = statusTimeout
    }

    var parameters: fuse_entry_param {
        var parameters = fuse_entry_param()
        parameters.ino = node.rawValue
        parameters.generation = generation
        parameters.attr = status.raw
        parameters.attr_timeout = statusTimeout
        parameters.entry_timeout = nameTimeout
        return parameters
    }
}

/// The reply to LOOKUP and to requests that make a name, except CREATE.
public struct EntryReply: ~Copyable, Reply {
    let token: ReplyToken

    /// - Returns: false if the kernel did not take the reply, and so holds no reference to the node.
    @discardableResult
    public consuming func entry(_ entry: KernelEntry) -> Bool {
        var parameters = entry.parameters
        return unsafe fuse_reply_entry(token.take(), &parameters) == 0
    }

    /// There is no such name.
    /// The kernel takes an entry with node number 0 for the fact that there is none.
    /// - Parameter timeout: seconds for which the kernel may cache that.
    public consuming func absent(timeout: Double) {
        var parameters = fuse_entry_param()
        parameters.entry_timeout = timeout
        unsafe fuse_reply_entry(token.take(), &parameters)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to GETATTR and SETATTR.
public struct FileStatusReply: ~Copyable, Reply {
    let token: ReplyToken

    /// - Parameter timeout: seconds for which the kernel may cache the status.
    public consuming func status(_ status: FileStatus, timeout: Double) {
        var raw = status.raw
        unsafe fuse_reply_attr(token.take(), &raw, timeout)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to requests that return nothing but success.
public struct DoneReply: ~Copyable, Reply {
    let token: ReplyToken
    /// The request is an ioctl(2), for which success has a form of its own.
    var toControl = false

    public consuming func done() {
        if toControl {
            unsafe fuse_reply_ioctl(token.take(), 0, nil, 0)
        } else {
            token.fail(0)
        }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to WRITE and COPY_FILE_RANGE: the number of bytes.
public struct CountReply: ~Copyable, Reply {
    let token: ReplyToken

    public consuming func count(_ count: Int) {
        unsafe fuse_reply_write(token.take(), count)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to LSEEK: the offset of the data or the hole that was found.
public struct PositionReply: ~Copyable, Reply {
    let token: ReplyToken

    public consuming func position(_ offset: Int64) {
        unsafe fuse_reply_lseek(token.take(), off_t(offset))
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The figures of statfs(2). Space is counted in blocks of `blockSize` bytes.
public struct FileSystemStatistics: Sendable {
    public var blockSize: UInt64
    public var blocks: UInt64
    public var freeBlocks: UInt64
    /// Free for users other than root.
    public var availableBlocks: UInt64
    /// Inodes, used and free.
    public var files: UInt64
    public var freeFiles: UInt64

    public init(
        blockSize: UInt64, blocks: UInt64, freeBlocks: UInt64, availableBlocks: UInt64, files: UInt64,
        freeFiles: UInt64
    ) {
        self.blockSize = blockSize
        self.blocks = blocks
        self.freeBlocks = freeBlocks
        self.availableBlocks = availableBlocks
        self.files = files
        self.freeFiles = freeFiles
    }
}

/// The reply to STATFS.
public struct StatisticsReply: ~Copyable, Reply {
    let token: ReplyToken

    public consuming func statistics(_ statistics: FileSystemStatistics) {
        var answer = statvfs()
        answer.f_bsize = UInt(statistics.blockSize)
        answer.f_frsize = UInt(statistics.blockSize)
        answer.f_blocks = fsblkcnt_t(statistics.blocks)
        answer.f_bfree = fsblkcnt_t(statistics.freeBlocks)
        answer.f_bavail = fsblkcnt_t(statistics.availableBlocks)
        answer.f_files = fsfilcnt_t(statistics.files)
        answer.f_ffree = fsfilcnt_t(statistics.freeFiles)
        // No inode is kept for root.
        answer.f_favail = fsfilcnt_t(statistics.freeFiles)
        answer.f_namemax = 255
        unsafe fuse_reply_statfs(token.take(), &answer)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to READLINK, and the bytes of other replies.
public struct BytesReply: ~Copyable, Reply {
    let token: ReplyToken

    public consuming func bytes(_ bytes: [UInt8]) {
        let request = unsafe token.take()
        unsafe bytes.withUnsafeBytes { bytes in
            // libfuse copies before it returns.
            _ = unsafe fuse_reply_buf(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}
