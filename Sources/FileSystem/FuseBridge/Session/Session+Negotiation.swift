// INIT: the capabilities and limits agreed with the kernel when a session starts.

import CFuse
import Glibc
import Platform
public import SandboxModel
import Synchronization

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
        connection.max_write = UInt32(rings.withLock { $0 }?.plan.payload ?? Session.largestRequest)
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

    /// FUSE_INIT_EXT and FUSE_OVER_IO_URING: bit 41, which is bit 9 of the second word of flags.
    private static let moreFlags: UInt32 = 1 << 30
    private static let overRings: UInt32 = 1 << 9

    /// Adds the flags that libfuse 3.14 leaves out to the reply to INIT. The reply is a fuse_out_header of 16 bytes
    /// and, in the second piece, fuse_init_out: flags at 12, flags2 at 32, 4 bytes each.
    func completeInitialReply(_ vector: UnsafePointer<iovec>, count: Int32) {
        guard count >= 2, unsafe vector[1].iov_len >= 36, let answer = unsafe vector[1].iov_base else { return }
        // A local variable of libfuse's do_init, valid until sent.
        func add(_ flags: UInt32, at offset: Int) {
            let present = unsafe answer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            unsafe answer.storeBytes(of: present | flags, toByteOffset: offset, as: UInt32.self)
        }
        add(Session.handleKillPrivileges | Session.parallelDirectoryOperations, at: 12)
        guard negotiation.usesRings else { return }
        add(Session.moreFlags, at: 12)
        add(Session.overRings, at: 32)
    }

    // MARK: The transport

    /// The transport that was agreed with the kernel; waits for the kernel's first request.
    public var transport: Transport { negotiation.transport }

    /// Makes the rings if the request is an INIT that offers them: the reply, which accepts them, cannot be taken back.
    /// - Parameter request: as the kernel sent it.
    /// - Returns: whether ``endNegotiation()`` is to be called after the reply.
    @inline(__always)
    func beginNegotiation(_ request: UnsafeRawBufferPointer) -> Bool {
        guard negotiation.beginsNow() else { return false }
        unsafe prepareRings(for: request)
        return true
    }

    private func prepareRings(for request: UnsafeRawBufferPointer) {
        // fuse_in_header of 40 bytes with the opcode at 4, fuse_init_in with flags at 12, flags2 at 16.
        func word(_ offset: Int) -> UInt32 {
            request.count >= offset + 4 ? unsafe request.loadUnaligned(fromByteOffset: offset, as: UInt32.self) : 0
        }
        guard options.transport != .devFuse, word(4) == 26, word(40 + 12) & Session.moreFlags != 0,
            word(40 + 16) & Session.overRings != 0
        else { return }
        guard let others = requests.withLock({ $0 }) else { return }
        guard let possible = Processors.possibleCount() else { return negotiation.note(.unknownProcessors) }
        let plan =
            options.ringPlan
            ?? RingPlan(possible: possible, online: Processors.online(), allowed: Processors.isAllowed)
        do throws(SystemError) {
            let made = try RingTransport(self, plan, beside: others)
            rings.withLock { $0 = made }
            negotiation.noteRingsInUse()
            options.beforeInitialReply()
        } catch {
            negotiation.note(.noRing(error))
        }
    }

    /// Gives the entries to the kernel after the reply to INIT.
    func endNegotiation() {
        guard let rings = rings.withLock({ $0 }) else { return useDevice() }
        do throws(SystemError) {
            try rings.register()
            negotiation.settle(.ioUring)
        } catch {
            // Some queue has no entry: the kernel goes on by /dev/fuse by itself.
            negotiation.note(.refused(error))
            rings.giveUp()
            self.rings.withLock { $0 = nil }
            useDevice()
        }
    }

    /// From now on all requests come by /dev/fuse. A worker reads until there is one, and does not look first.
    private func useDevice() {
        let device = unsafe fuse_session_fd(connection)
        _ = fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK)
        negotiation.settle(.devFuse)
    }

    /// Removes a mount that has not the transport that was demanded.
    /// - Throws: ``MountFailure`` of kind `configuration`.
    func checkTransport() throws(MountFailure) {
        guard transport == .devFuse, options.transport == .ioUring else { return }
        let obstacle = negotiation.obstacle
        negotiation.refuse()
        try? Session.unmount(path, lazily: true)
        waitUntilEnded()
        throw MountFailure(
            .configuration, "\(path) cannot be mounted with --transport io-uring: \(obstacle.message)")
    }
}
