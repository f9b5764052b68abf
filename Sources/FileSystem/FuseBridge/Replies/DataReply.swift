// The reply to READ. It sends bytes from the buffers that hold them, without a copy in this process.

import CFuse
import Glibc
public import Platform

/// The reply to READ. To the kernel fewer bytes than requested mean the end of the file: it shows the rest as zeros.
public struct DataReply: ~Copyable, Reply {
    let token: ReplyToken
    /// Memory from which the kernel takes the content, with room for as much as it wants; nil if the request came by
    /// /dev/fuse. Pieces that lie there, each where it belongs in the reply, are sent without a copy.
    public let memory: BufferRange?

    /// Sends `segmentCount` pieces in order. Their buffers must outlive the call.
    /// - Parameter segment: gives the buffer of a piece, with offset and count in bytes.
    public consuming func segments(
        _ segmentCount: Int, _ segment: (Int) -> (buffer: PageBuffer, offset: Int, count: Int)
    ) {
        let request = unsafe token.take()
        if segmentCount == 0 {
            unsafe fuse_reply_buf(request, nil, 0)
        } else if segmentCount == 1 {
            let piece = segment(0)
            piece.buffer.withBytes(piece.offset, count: piece.count) { bytes in
                unsafe bytes.withUnsafeBytes { bytes in
                    _ = unsafe fuse_reply_buf(
                        request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
                }
            }
        } else {
            unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: segmentCount) { vector in
                for index in 0..<segmentCount {
                    let piece = segment(index)
                    precondition(piece.offset >= 0 && piece.count >= 0)
                    precondition(piece.offset <= piece.buffer.count - piece.count)
                    // The caller keeps the buffers until this function returns; libfuse has sent by then.
                    unsafe vector.initializeElement(
                        at: index, to: iovec(iov_base: piece.buffer.base + piece.offset, iov_len: piece.count))
                }
                _ = unsafe fuse_reply_iov(request, vector.baseAddress, Int32(segmentCount))
            }
        }
    }

    /// Sends bytes that are valid during the call.
    public consuming func bytes(_ bytes: RawSpan) {
        let request = unsafe token.take()
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe fuse_reply_buf(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}
