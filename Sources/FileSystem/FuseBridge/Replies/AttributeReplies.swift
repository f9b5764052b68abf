// The answers about extended attributes and inode flags, with the sizes and structures that the calls expect.

import CFuse
import CPlatform
import Glibc

extension ReplyToken {
    /// The answer of getxattr(2) and listxattr(2): the length when `capacity` is 0, else the bytes if they fit.
    fileprivate consuming func sized(_ bytes: [UInt8], capacity: Int) {
        if capacity == 0 {
            unsafe fuse_reply_xattr(take(), bytes.count)
        } else if bytes.count > capacity {
            fail(ERANGE)
        } else {
            BytesReply(token: self).bytes(bytes)
        }
    }
}

/// An attribute's value, however much of it was asked for.
public struct AttributeReply: ~Copyable, Reply {
    let token: ReplyToken
    let capacity: Int

    public consuming func value(_ value: [UInt8]) { token.sized(value, capacity: capacity) }

    /// Says that there is a value, to whoever asks how long it is, and to whoever wants it that there is none.
    public consuming func presence() {
        if capacity == 0 { token.sized([0], capacity: 0) } else { token.fail(ENODATA) }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

public struct AttributeNamesReply: ~Copyable, Reply {
    let token: ReplyToken
    let capacity: Int

    /// - Parameter names: without terminators.
    public consuming func names(_ names: [[UInt8]]) {
        var list: [UInt8] = []
        list.reserveCapacity(names.reduce(0) { $0 + $1.count + 1 })
        for name in names {
            list += name
            list.append(0)
        }
        token.sized(list, capacity: capacity)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The flags of chattr(1), in the form that the call asked for.
public struct InodeFlagsReply: ~Copyable, Reply {
    let token: ReplyToken
    let extended: Bool

    public consuming func flags(_ flags: UInt32) {
        let request = unsafe token.take()
        if extended {
            // struct fsxattr of <linux/fs.h>: flags, four numbers that do not apply here, and padding.
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

/// The two forms of inode flags, FS_*_FL and FS_XFLAG_*, as <linux/fs.h> numbers them.
enum InodeFlags {
    static let extendedSize = 28

    /// (FS_*_FL, FS_XFLAG_*): synchronous, immutable, append only, no dump, no access time.
    private static let pairs: [(UInt32, UInt32)] = [
        (0x08, 0x20), (0x10, 0x08), (0x20, 0x10), (0x40, 0x80), (0x80, 0x40),
    ]

    /// Every flag that both forms have.
    static let common: UInt32 = 0xF8

    static func extended(_ flags: UInt32) -> UInt32 {
        pairs.reduce(0) { flags & $1.0 != 0 ? $0 | $1.1 : $0 }
    }

    static func plain(_ extended: UInt32) -> UInt32 {
        pairs.reduce(0) { extended & $1.1 != 0 ? $0 | $1.0 : $0 }
    }
}
