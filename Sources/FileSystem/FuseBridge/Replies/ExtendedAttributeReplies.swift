// Replies to getxattr(2) and listxattr(2).

import CFuse
import Glibc

extension ReplyToken {
    /// Answers getxattr(2) or listxattr(2): the length if `capacity` is 0, otherwise the bytes, or ERANGE if too many.
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

/// The reply to GETXATTR.
public struct ExtendedAttributeReply: ~Copyable, Reply {
    let token: ReplyToken
    /// The size of the caller's buffer in bytes; 0 asks for the length.
    let capacity: Int

    public consuming func value(_ value: [UInt8]) { token.sized(value, capacity: capacity) }

    /// Tells the kernel that the attribute exists without giving a value: a length of 1, but ENODATA for the bytes.
    public consuming func presence() {
        if capacity == 0 { token.sized([0], capacity: 0) } else { token.fail(ENODATA) }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to LISTXATTR.
public struct ExtendedAttributeNamesReply: ~Copyable, Reply {
    let token: ReplyToken
    /// As in ``ExtendedAttributeReply``.
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
