// The duty to answer one request, exactly once.

import CFuse
import Glibc

/// One request of the kernel that waits for its answer. Dropped, it answers EIO: nobody hangs for a forgotten reply.
@safe struct ReplyToken: ~Copyable, @unchecked Sendable {
    // Valid until a fuse_reply_ function gets it, which happens in `take` or in `deinit` and never in both.
    @unsafe private let request: fuse_req_t

    init(_ request: fuse_req_t) {
        unsafe self.request = unsafe request
    }

    deinit {
        unsafe fuse_reply_err(request, EIO)
    }

    var caller: RequestCaller { unsafe RequestCaller(of: request) }

    /// The caller answers at once.
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

/// A reply that can refuse. Consuming it, by this or by any other of its functions, is what answers the request.
public protocol Reply: ~Copyable, Sendable {
    /// - Parameter code: an errno.
    consuming func fail(_ code: Int32)
    /// Who waits for the answer.
    var caller: RequestCaller { get }
}

extension RequestCaller {
    /// - Parameter request: one that is not answered yet, because its context goes with it.
    init(of request: fuse_req_t) {
        let context = unsafe fuse_req_ctx(request).pointee
        self.init(user: context.uid, group: context.gid, process: context.pid)
    }
}
