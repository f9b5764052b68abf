// One entry of a queue: the memory into which the kernel puts a request, and from which it takes the reply.

import CFuse
import CRing
import Glibc
import Platform
import SandboxModel
import Synchronization

/// The kernel writes to the memory only while the entry's thread is in io_uring_enter. All else is used by that thread,
/// but for ``serves(_:)``, ``answerLate(_:_:)``, ``requestNumber`` and ``file``.
@safe final class RingEntry: @unchecked Sendable {
    let queue: RingQueue
    private let header: PageBuffer
    /// A page whose end takes the request's headers, then the payload: libfuse wants a request in one piece.
    private let content: PageBuffer
    private let capacity: Int
    /// The kernel's number of the request for the commit.
    var commit: UInt64 = 0
    /// The node of the request.
    private(set) var node = KernelNode.root
    private let lastFile = Atomic<UInt64>(0)
    private(set) var isAnswered = true
    /// Whether a request is there that has not begun.
    private var holdsRequest = false
    /// Whether the memory is to be zeroed as soon as the kernel has the reply.
    var mustZero = false
    /// Bytes of the payload that were used since the last wipe.
    private var used = 0
    /// The request that is served (`unique` in linux/fuse.h); 0 between two requests.
    private let request = Atomic<UInt64>(0)
    /// A reply by another thread, for the entry's own to send. Touched for such replies only: a request that its own
    /// thread answers takes no lock.
    let late = Monitor<LateReply?>(nil)

    struct LateReply {
        let request: UInt64
        /// With its header.
        let bytes: [UInt8]
    }

    private static let lead = PageBuffer.pageSize
    /// Of `pid` in struct fuse_in_header.
    private static let processOffset = 32
    /// sizeof(struct fuse_in_header) and sizeof(struct fuse_out_header).
    private static let requestHeader = 40
    static let replyHeader = 16
    private static let largestOperation = 128

    /// - Parameter payload: bytes of the largest payload, whole pages.
    /// - Throws: ENOMEM.
    init(_ queue: RingQueue, payload: Int) throws(SystemError) {
        self.queue = queue
        capacity = payload
        header = PageBuffer(count: Int(RING_HEADER))
        content = try PageBuffer(mapping: RingEntry.lead + payload)
    }

    /// The memory as REGISTER tells it to the kernel; valid as long as the entry is.
    @unsafe var memory: ring_memory {
        unsafe ring_memory(
            header: header.base, header_size: UInt64(RING_HEADER), payload: content.base + RingEntry.lead,
            payload_size: UInt64(capacity))
    }

    /// The entry whose request the calling thread serves; nil if it came by /dev/fuse.
    @inline(__always)
    static var current: RingEntry? {
        // The thread's worker keeps its entries alive.
        unsafe RequestContext.current?.pointee.entry?.takeUnretainedValue()
    }

    /// The kernel has put a request here.
    func noteDelivery() { holdsRequest = true }

    /// Whether a process waits for the reply to the request that the kernel has put here. Writeback and RELEASE name
    /// none, nor does a request of a process that is not visible here.
    var isAwaited: Bool { header.load(UInt32.self, at: RingEntry.processOffset) != 0 }

    /// The request that the kernel has put here, in one piece; nil if its lengths contradict each other.
    func begin() -> UnsafeMutableRawBufferPointer? {
        holdsRequest = false
        commit = header.load(UInt64.self, at: Int(RING_COMMIT_OFFSET))
        node = KernelNode(rawValue: header.load(UInt64.self, at: 16))
        if isOfFile { lastFile.store(node.rawValue, ordering: .relaxed) }
        isAnswered = false
        mustZero = false
        request.store(header.load(UInt64.self, at: 8), ordering: .releasing)
        let length = Int(header.load(UInt32.self, at: 0))
        let payload = self.payload
        used = max(used, min(payload, capacity))
        let operation = length - RingEntry.requestHeader - payload
        guard payload <= capacity, (0...RingEntry.largestOperation).contains(operation) else { return nil }
        let start = RingEntry.lead - operation - RingEntry.requestHeader
        content.copy(from: header, at: 0, count: RingEntry.requestHeader, to: start)
        content.copy(
            from: header, at: Int(RING_OPERATION_OFFSET), count: operation,
            to: start + RingEntry.requestHeader)
        return unsafe UnsafeMutableRawBufferPointer(start: content.base + start, count: length)
    }

    /// Whether the request is OPEN, READ, WRITE, FSYNC or FLUSH (linux/fuse.h), whose node is a regular file.
    private var isOfFile: Bool {
        let opcode = header.load(UInt32.self, at: 4)
        return opcode >= 14 && opcode <= 16 || opcode == 20 || opcode == 25
    }

    /// The regular file of the last request that had one; nil if there was none.
    var file: KernelNode? {
        let number = lastFile.load(ordering: .relaxed)
        return number == 0 ? nil : KernelNode(rawValue: number)
    }

    /// The kernel's number of the request that is served; 0 between two requests.
    var requestNumber: UInt64 { request.load(ordering: .relaxed) }

    /// Bytes of content of the request, as the kernel tells them.
    private var payload: Int { Int(header.load(UInt32.self, at: Int(RING_PAYLOAD_SIZE_OFFSET))) }

    /// Whether this is the entry of a request.
    @inline(__always)
    func serves(_ unique: UInt64) -> Bool { request.load(ordering: .acquiring) == unique }

    // MARK: The reply

    /// Puts a reply into the memory: a fuse_out_header, and the content in any number of pieces.
    /// - Returns: false if there is no room for it: EIO is the reply then.
    @discardableResult
    func answer(_ vector: UnsafePointer<iovec>, count: Int32) -> Bool {
        var length = 0
        for index in 1..<max(1, Int(count)) {
            guard unsafe vector[index].iov_len <= capacity - length else {
                answer(error: EIO)
                return false
            }
            length += unsafe vector[index].iov_len
        }
        var target = unsafe content.base + RingEntry.lead
        for index in 1..<max(1, Int(count)) {
            let piece = unsafe vector[index]
            // Within the payload, by the sum. A piece may lie in this memory already.
            if let source = unsafe piece.iov_base, unsafe source != target {
                unsafe memmove(target, source, piece.iov_len)
            }
            unsafe target += piece.iov_len
        }
        let error = unsafe vector[0].iov_base.loadUnaligned(fromByteOffset: 4, as: Int32.self)
        finish(error: error, length: length)
        return true
    }

    /// The place of a reply's content, for the one that makes it. A request has no content there, or is over with it.
    /// - Returns: nil if there is no room for so much.
    func content(_ count: Int) -> BufferRange? {
        guard count <= capacity else { return nil }
        used = max(used, count)
        return BufferRange(content, offset: RingEntry.lead, count: count)
    }

    /// - Parameter error: an errno; 0 for success without content, also of a request that has no reply.
    func answer(error: Int32) { finish(error: -error, length: 0) }

    private func finish(error: Int32, length: Int) {
        header.store(UInt32(RingEntry.replyHeader + length), at: 0)
        header.store(UInt32(bitPattern: error), at: 4)
        header.store(request.load(ordering: .relaxed), at: 8)
        header.store(UInt32(length), at: Int(RING_PAYLOAD_SIZE_OFFSET))
        used = max(used, length)
        isAnswered = true
    }

    /// Keeps a reply that another thread gives, with its header, for the entry's own thread.
    /// - Returns: false if the entry does not serve that request.
    func answerLate(_ unique: UInt64, _ reply: [UInt8]) -> Bool {
        late.access { late in
            // One of an earlier request came when that was over.
            guard serves(unique), late?.request != unique else { return false }
            late = LateReply(request: unique, bytes: reply)
            return true
        }
    }

    /// Takes the reply of another thread to the request that is served.
    /// - Parameter late: the value of ``late``, in whose access this is called.
    func take(_ late: inout LateReply?) -> [UInt8]? {
        guard let reply = late, serves(reply.request) else { return nil }
        late = nil
        return reply.bytes
    }

    /// Sends the reply of another thread.
    func answer(late reply: [UInt8]) {
        unsafe reply.withUnsafeBytes { bytes in
            let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
            let pieces = unsafe [
                iovec(iov_base: start, iov_len: RingEntry.replyHeader),
                iovec(iov_base: start + RingEntry.replyHeader, iov_len: bytes.count - RingEntry.replyHeader),
            ]
            _ = unsafe answer(pieces, count: 2)
        }
    }

    /// The reply is on its way.
    func end() { request.store(0, ordering: .releasing) }

    // MARK: Wiping

    /// Zeroes what requests and replies have left, but for a request that has not begun. The kernel keeps the entry,
    /// and writes it anew for the next request.
    func wipe() {
        let reach = RingEntry.requestHeader + RingEntry.largestOperation
        content.wipe(RingEntry.lead - reach, count: reach)
        let kept = holdsRequest ? min(payload, used) : 0
        content.wipe(RingEntry.lead + kept, count: used - kept)
        used = kept
        if !holdsRequest { header.wipe(0, count: Int(RING_HEADER)) }
    }
}

/// The entries of one processor's queue.
final class RingQueue: Sendable {
    let number: UInt16
    /// Entries that the kernel has, those that serve a request included.
    private let entries = Atomic<Int>(0)
    /// Entries that serve no request.
    let free = Atomic<Int>(0)
    /// Changes with each worker that begins to poll.
    private let polls = Atomic<UInt32>(0)

    init(_ number: UInt16) {
        self.number = number
    }

    /// Begins to poll for a request of this queue.
    /// - Returns: a number for ``isPolled(_:)``.
    func beginPolling() -> UInt32 { polls.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Whether no other worker has begun to poll since.
    func isPolled(_ number: UInt32) -> Bool { polls.load(ordering: .relaxed) == number }

    var isEmpty: Bool { entries.load(ordering: .relaxed) == 0 }

    /// The kernel has one more entry.
    func add() {
        entries.add(1, ordering: .relaxed)
        free.add(1, ordering: .relaxed)
    }

    func remove() {
        entries.subtract(1, ordering: .relaxed)
        free.subtract(1, ordering: .relaxed)
    }
}
