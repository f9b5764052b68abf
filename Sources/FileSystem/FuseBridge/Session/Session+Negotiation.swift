// What is agreed with the kernel at the start of a session.

import CFuse
import Glibc

extension Session {
    /// The largest request there is: 256 pages, the kernel's own limit (/proc/sys/fs/fuse/max_pages_limit).
    static let largestRequest = 1 << 20

    func negotiate(_ connection: inout fuse_conn_info) {
        // Writes gather in the page cache; whole directories come with attributes; lookups and creations in one
        // directory go side by side. Not asked for: splicing (content is ciphered, it has to pass through memory),
        // POSIX and flock locks (the kernel keeps them), ACLs, invalidation by changed attributes (the filesystem
        // sends notifications instead).
        let wanted =
            FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_WRITEBACK_CACHE
            | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS
            | FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_IOCTL_DIR | FUSE_CAP_NO_OPENDIR_SUPPORT
        connection.want = connection.capable & UInt32(bitPattern: wanted)
        connection.max_write = UInt32(Session.largestRequest)
        connection.max_background = 64
        connection.congestion_threshold = 48
        connection.time_gran = 1
    }

    /// FUSE_HANDLE_KILLPRIV_V2 of <linux/fuse.h>: the filesystem clears set-user-ID and set-group-ID bits at a write
    /// by itself, so the kernel need not ask for `security.capability` before each.
    private static let handleKillPrivileges: UInt32 = 1 << 28
    /// FUSE_PARALLEL_DIROPS, which libfuse 3.14 takes from us and does not pass on: without it one lookup that is slow
    /// holds up every other in its directory.
    private static let parallelDirectoryOperations: UInt32 = 1 << 18

    /// Adds to the reply to INIT what libfuse 3.14 cannot say, or forgets to. The reply is an out header of 16 bytes and, in the
    /// second piece, fuse_init_out: major, minor, max_readahead, flags, 4 bytes each.
    static func completeInitialReply(_ vector: UnsafePointer<iovec>, count: Int32) {
        guard count >= 2, unsafe vector[1].iov_len >= 16, let answer = unsafe vector[1].iov_base else { return }
        // The struct is a local of libfuse's do_init, and lives until it has been sent.
        let flags = unsafe answer.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
        let added = handleKillPrivileges | parallelDirectoryOperations
        unsafe answer.storeBytes(of: flags | added, toByteOffset: 12, as: UInt32.self)
    }
}
