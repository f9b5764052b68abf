// Replies to getxattr(2) and listxattr(2).

import CFuse
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
public struct ExtendedAttributeReply: ~Copyable, Reply {
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

public struct ExtendedAttributeNamesReply: ~Copyable, Reply {
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
