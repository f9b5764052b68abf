// The loop of a worker: a request is read, handed to libfuse's parser, and answered, on one thread.

import CFuse
import Glibc
import Platform

/// What the workers of one session share. libfuse's own pool costs some 4 µs more for each request.
///
/// A worker blocks in read(2) right away. Polling for 30 to 60 µs first was tried: no faster with one busy client,
/// nor with two, on two cores, and it takes the processor from whoever waits for the answer.
@safe final class RequestSource: @unchecked Sendable {
    private let session: Session
    private let device: Int32

    init(_ session: Session) {
        self.session = session
        device = unsafe fuse_session_fd(session.connection)
    }

    /// The payload of a WRITE follows two headers of 40 bytes; so placed, it begins at a page.
    private static let lead = PageBuffer.pageSize - 80

    /// Serves until the mount is gone.
    func run() {
        // A root daemon writes for others: without this capability the host clears set-user-ID and set-group-ID bits
        // at a write, as it would for them.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        let size = PageBuffer.pageSize + Session.largestRequest
        let memory = PageBuffer(count: RequestSource.lead + size)
        var request = unsafe fuse_buf()
        // The memory lives as long as this function, and libfuse parses a request where it lies.
        unsafe request.mem = memory.base + RequestSource.lead
        while let count = unsafe next(into: request.mem, size) {
            unsafe request.size = count
            unsafe fuse_session_process_buf(session.connection, &request)
        }
    }

    /// - Returns: the size of the next request; nil when there will be none any more.
    private func next(into memory: UnsafeMutableRawPointer, _ size: Int) -> Int? {
        while !session.isStopping {
            let count = unsafe read(device, memory, size)
            if count > 0 { return count }
            switch errno {
            // ENOENT: the caller was killed before its request was read.
            case EINTR, EAGAIN, ENOENT: continue
            // ENODEV: the last mount is gone. Whatever else it is, reading again would not help.
            default: return nil
            }
        }
        return nil
    }
}
