// The reply with inode flags (chattr(1)), and the two forms of those flags.

import CFuse
import Glibc

/// The reply to the ioctl(2) that reads inode flags, in the form that the call asked for.
public struct InodeFlagsReply: ~Copyable, Reply {
    let token: ReplyToken
    /// FS_IOC_FSGETXATTR rather than FS_IOC_GETFLAGS.
    let extended: Bool

    /// - Parameter flags: FS_*_FL of <linux/fs.h>.
    public consuming func flags(_ flags: UInt32) {
        let request = unsafe token.take()
        if extended {
            // struct fsxattr of <linux/fs.h>: flags, four numbers that do not apply here, padding.
            var answer: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt64) = (0, 0, 0, 0, 0, 0)
            answer.0 = InodeFlags.extended(flags)
            unsafe fuse_reply_ioctl(request, 0, &answer, InodeFlags.extendedSize)
        } else {
            var answer = flags
            unsafe fuse_reply_ioctl(request, 0, &answer, MemoryLayout<UInt32>.size)
        }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// Conversion between the two forms of inode flags in <linux/fs.h>: FS_*_FL and FS_XFLAG_*.
enum InodeFlags {
    /// sizeof(struct fsxattr).
    static let extendedSize = 28

    /// (FS_*_FL, FS_XFLAG_*) of: synchronous, immutable, append only, no dump, no access time.
    private static let pairs: [(UInt32, UInt32)] = [
        (0x08, 0x20), (0x10, 0x08), (0x20, 0x10), (0x40, 0x80), (0x80, 0x40),
    ]

    /// The FS_*_FL flags that both forms have.
    static let common: UInt32 = 0xF8

    /// FS_XFLAG_* of FS_*_FL. Flags without a counterpart are dropped.
    static func extended(_ flags: UInt32) -> UInt32 {
        pairs.reduce(0) { flags & $1.0 != 0 ? $0 | $1.1 : $0 }
    }

    /// FS_*_FL of FS_XFLAG_*. Flags without a counterpart are dropped.
    static func plain(_ extended: UInt32) -> UInt32 {
        pairs.reduce(0) { extended & $1.1 != 0 ? $0 | $1.0 : $0 }
    }
}
