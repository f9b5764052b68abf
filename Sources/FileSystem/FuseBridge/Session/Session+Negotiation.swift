// INIT: the capabilities and limits agreed with the kernel when a session starts.

import CFuse
import Glibc

extension Session {
    /// The most bytes of one WRITE: 256 pages, the kernel's limit (/proc/sys/fs/fuse/max_pages_limit).
    static let largestRequest = 1 << 20

    /// Sets the wanted capabilities, as far as the kernel has them, and no others: libfuse's defaults are replaced.
    func negotiate(_ connection: inout fuse_conn_info) {
        // Not wanted: splice (content is encrypted, so it passes through memory), POSIX and flock locks (the kernel
        // keeps them), ACLs, automatic invalidation (the filesystem sends notifications), asynchronous direct I/O
        // (after a direct write that completes later, the kernel keeps the pages that it read meanwhile).
        let wanted =
            FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_WRITEBACK_CACHE
            | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS
            | FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_IOCTL_DIR | FUSE_CAP_NO_OPENDIR_SUPPORT
        connection.want = connection.capable & UInt32(bitPattern: wanted)
        connection.max_write = UInt32(Session.largestRequest)
        // Read-ahead and writeback in flight at once; from three quarters on the kernel reports congestion, as by
        // default.
        connection.max_background = 64
        connection.congestion_threshold = 48
        // Times have nanoseconds.
        connection.time_gran = 1
    }

    /// FUSE_HANDLE_KILLPRIV_V2 of <linux/fuse.h>: the filesystem clears set-user-ID and set-group-ID bits at a write,
    /// so the kernel need not ask for `security.capability` before each. libfuse 3.14 does not know it.
    private static let handleKillPrivileges: UInt32 = 1 << 28
    /// FUSE_PARALLEL_DIROPS: without it a slow lookup blocks all others in its directory. libfuse 3.14 accepts the
    /// capability but does not send it.
    private static let parallelDirectoryOperations: UInt32 = 1 << 18

    /// Adds the flags that libfuse 3.14 leaves out to the reply to INIT. The reply is a fuse_out_header of 16 bytes
    /// and, in the second piece, fuse_init_out: major, minor, max_readahead, flags, 4 bytes each.
    static func completeInitialReply(_ vector: UnsafePointer<iovec>, count: Int32) {
        guard count >= 2, unsafe vector[1].iov_len >= 16, let answer = unsafe vector[1].iov_base else { return }
        // A local variable of libfuse's do_init, valid until sent.
        let flags = unsafe answer.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
        let added = handleKillPrivileges | parallelDirectoryOperations
        unsafe answer.storeBytes(of: flags | added, toByteOffset: 12, as: UInt32.self)
    }
}
