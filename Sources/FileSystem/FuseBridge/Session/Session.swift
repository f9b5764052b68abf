// A FUSE session: the connection to the kernel, the threads that serve it, and their end.

import CFuse
import Glibc
import Platform
public import SandboxModel
import Synchronization

/// A mounted filesystem being served. The session ends when its last mount is gone, whoever unmounted it.
///
/// Locks: each is a leaf, held for moments; none is held while the filesystem or libfuse is called.
@safe public final class Session: @unchecked Sendable {
    public struct Options: Sendable {
        /// The first column of /proc/mounts.
        public var source: String
        /// The filesystem type is `fuse.` and this.
        public var subtype: String
        /// For a mount through fusermount3; root makes a mount read-only itself.
        public var readOnly = false
        /// `allow_other`: whether users other than the mounting one have access.
        public var otherUsers: Bool
        public var transport = TransportChoice.automatic
        /// Threads that read requests. More than processors, because a request may wait for the host's disk.
        public var workers = 4
        /// Further threads, which serve only while all others are stalled in a request.
        public var reserve = 4
        /// Called with a line for the log when a reply was dropped, at most once a minute. It must not call the mount.
        public var replyDropped: @Sendable (String) -> Void = { _ in }
        /// Called with a line for the log when the session ends because it can serve no longer. It must not call the
        /// mount.
        public var failed: @Sendable (String) -> Void = { _ in }
        /// For tests; nil for that of this machine.
        var ringPlan: RingPlan?
        /// For tests: called when the rings are made, before the reply to INIT.
        var beforeInitialReply: @Sendable () -> Void = {}

        public init(source: String, subtype: String, otherUsers: Bool) {
            self.source = source
            self.subtype = subtype
            self.otherUsers = otherUsers
        }
    }

    struct Running {
        /// Workers that serve. The session ends when none is left.
        var workers = 0
        /// Whether the others are to end.
        var hasFailed = false
    }

    let fileSystem: any FileSystem
    let options: Options
    /// Where the session was mounted first.
    let path: String
    public let notifications: Notifications

    // Set once in init; valid until `finish` destroys it, after the last worker and the last notification.
    @unsafe private(set) var connection: OpaquePointer

    /// Handles that the kernel holds. If the connection breaks, it sends no RELEASE for them.
    let opened = ShortLock<Set<UInt64>>([])
    private let droppedReplies = DroppedReplies()
    /// Whether the reply to INIT is sent, which alone is completed.
    private let initialReplySent = Atomic<Bool>(false)
    /// The agreement with the kernel; see Session+Negotiation.swift.
    let negotiation = Negotiation()
    let hasEnded = Monitor(false)
    /// Set by ``stop()``, and read by the workers between two requests.
    let stopping = Atomic<Bool>(false)
    let hasFailed = Atomic<Bool>(false)
    /// Whether a thread has the workers end.
    let endsWorkers = Atomic<Bool>(false)
    let running = Monitor(Running())
    /// nil before the mount and after the end. Held while the connection is aborted, which must not have been replaced.
    let control = Mutex<ConnectionControl?>(nil)
    /// nil before the start and after the end.
    let requests = Mutex<WorkerPool?>(nil)
    /// Called after the end.
    let ended = Mutex<(@Sendable () -> Void)?>(nil)
    /// Whether a thread carries the end out.
    let isFinishing = Atomic<Bool>(false)
    /// nil as long as requests come by /dev/fuse alone.
    let rings = Mutex<RingTransport?>(nil)

    /// Mounts the filesystem and starts to serve it.
    /// - Parameters:
    ///   - path: an existing directory.
    ///   - ended: called once, on a thread of the session, when the mount is gone and all handles are closed.
    /// - Throws: ``MountFailure`` of kind `mountPoint`, `unavailable`, `configuration` or `refused`.
    public static func mount(
        _ fileSystem: any FileSystem, at path: String, options: Options, ended: @escaping @Sendable () -> Void = {}
    ) throws(MountFailure) -> Session {
        let privileged = ActingUser.isPrivileged
        try Preconditions.check(at: path, privileged: privileged, otherUsers: options.otherUsers)
        let session = try Session(fileSystem, at: path, options: options)
        do throws(MountFailure) {
            let device = privileged ? try session.mountDirectly(at: path) : try session.mountThroughHelper(at: path)
            try session.connect(device)
            session.control.withLock { $0 = ConnectionControl(at: path, type: "fuse.\(options.subtype)") }
        } catch {
            unsafe fuse_session_destroy(session.connection)
            throw error
        }
        do throws(SystemError) {
            try session.serve(ended)
        } catch {
            throw MountFailure.system("no thread could be made for the mount", error.code)
        }
        try session.checkTransport()
        return session
    }

    private init(_ fileSystem: any FileSystem, at path: String, options: Options) throws(MountFailure) {
        self.fileSystem = fileSystem
        self.path = path
        self.options = options
        notifications = Notifications()
        // A placeholder: `self` cannot be passed on before every field is set.
        unsafe connection = OpaquePointer(bitPattern: 1)!
        guard let connection = unsafe Session.makeConnection(options, Unmanaged.passUnretained(self).toOpaque()) else {
            throw MountFailure(.refused, "libfuse does not take the mount options")
        }
        unsafe self.connection = unsafe connection
    }

    // MARK: The end; see Session+Ending.swift

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Waits until the session has ended.
    public func waitUntilEnded() {
        _ = hasEnded.wait { $0 ? true : nil }
    }

    /// Waits until the session has ended, for a limited time.
    /// - Returns: whether it has ended.
    public func waitUntilEnded(atMost limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while !hasEnded.access({ $0 }) {
            guard ContinuousClock.now < deadline else { return false }
            usleep(500)
        }
        return true
    }

    /// Waits until every request that is being served now is over. Do not call it from a request, nor with a lock held
    /// that a request takes.
    public func quiesce() {
        requests.withLock { $0 }?.quiesce()
        rings.withLock { $0 }?.quiesce()
    }

    /// Has every worker zero its request memory, and waits for it. Do not call it from a request, nor with a lock held
    /// that a request takes.
    public func wipeRequests() {
        requests.withLock { $0 }?.wipe()
        rings.withLock { $0 }?.wipe()
    }

    // MARK: Handles

    /// Records a handle that the kernel is about to get.
    func recordOpen(_ number: UInt64) {
        opened.withLock { _ = $0.insert(number) }
    }

    /// - Returns: false if the kernel does not hold this handle.
    func removeOpen(_ number: UInt64) -> Bool {
        opened.withLock { $0.remove(number) != nil }
    }

    // MARK: Replies

    func reportDroppedReply(opcode: UInt32, caller: RequestCaller) {
        if let line = droppedReplies.report(opcode: opcode, caller: caller) { options.replyDropped(line) }
    }

    /// Sends a reply or notification that libfuse built. The first of a session is the reply to INIT.
    func send(_ device: Int32, _ vector: UnsafePointer<iovec>, _ count: Int32) -> Int {
        if !initialReplySent.load(ordering: .relaxed) {
            initialReplySent.store(true, ordering: .relaxed)
            unsafe completeInitialReply(vector, count: count)
        }
        if negotiation.usesRings, unsafe sendByRing(vector, count) { return 0 }
        return unsafe writev(device, vector, count)
    }

    /// Puts a reply into the entry of its request.
    /// - Returns: false if the request came by /dev/fuse, and for a notification.
    private func sendByRing(_ vector: UnsafePointer<iovec>, _ count: Int32) -> Bool {
        // fuse_out_header (linux/fuse.h): length, error: 4 bytes; unique: 8, which is 0 for a notification.
        let unique = unsafe vector[0].iov_base.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        guard unique != 0 else { return false }
        if let entry = RingEntry.current, entry.serves(unique) {
            unsafe entry.answer(vector, count: count)
            return true
        }
        guard let rings = rings.withLock({ $0 }) else { return false }
        var reply: [UInt8] = []
        for index in 0..<Int(count) {
            let piece = unsafe vector[index]
            unsafe reply.append(contentsOf: UnsafeRawBufferPointer(start: piece.iov_base, count: piece.iov_len))
        }
        return rings.answerLate(unique, reply)
    }
}
