// The obligation to answer one request exactly once.

import CFuse
import Glibc

/// A request that waits for its reply. If the token is dropped, the request fails with EIO, so that no caller hangs,
/// and is reported to the session's owner.
@safe struct ReplyToken: ~Copyable, @unchecked Sendable {
    // Valid until passed to a fuse_reply_ function: by the caller of `take`, or in `deinit`, never both.
    @unsafe private let request: fuse_req_t
    private let opcode: UInt32

    init(_ request: fuse_req_t) {
        unsafe self.request = unsafe request
        opcode = CurrentRequest.opcode
    }

    deinit {
        // Before the reply, which frees the request.
        unsafe Session.of(request).reportDroppedReply(opcode: opcode, caller: RequestCaller(of: request))
        unsafe fuse_reply_err(request, EIO)
    }

    var caller: RequestCaller { unsafe RequestCaller(of: request) }

    /// Hands the request over. The caller must pass it to a fuse_reply_ function.
    consuming func take() -> fuse_req_t {
        let request = unsafe self.request
        discard self
        return unsafe request
    }

    consuming func fail(_ code: Int32) {
        let request = unsafe take()
        unsafe fuse_reply_err(request, code)
    }
}

/// A reply to one request. Each of its consuming functions answers the request.
public protocol Reply: ~Copyable, Sendable {
    /// - Parameter code: an errno.
    consuming func fail(_ code: Int32)
    /// The credentials of the caller that waits for the reply.
    var caller: RequestCaller { get }
}

extension RequestCaller {
    /// - Parameter request: not answered yet; answering frees its context.
    init(of request: fuse_req_t) {
        let context = unsafe fuse_req_ctx(request).pointee
        self.init(user: context.uid, group: context.gid, thread: context.pid)
    }
}
