// Memory that one call needs while it moves content, kept for the next call: the data path allocates nothing.

import DataProtection
import Glibc
import HashFunctions
public import Platform
import Synchronization

/// The working memory of one call on one thread.
public final class Workspace: @unchecked Sendable {
    /// The most one call moves: FUSE's largest request.
    public static let largestTransfer = 1 << 20
    /// Tag and map pages that can lie between the blocks of the largest transfer, its two ragged ends included.
    private static let sparePages = 16

    let cipher = BlockCipher()
    /// For the blocks of sealed bundles.
    var sha256 = MessageDigest(.sha256)
    /// The image of a stretch of the backing file.
    let image = PageBuffer(count: largestTransfer + sparePages * PageBuffer.pageSize)
    /// Bytes of the image that were read last.
    var imageCount = 0 {
        didSet { mostRead = max(mostRead, imageCount) }
    }
    /// The most that were read since the last ``wipe()``.
    private var mostRead = 0
    /// One block of plaintext that is being put together.
    let block = PageBuffer(count: ContentLayout.blockSize)

    /// A part of what was read: bytes of a buffer, in order.
    public struct Segment: Sendable {
        public let buffer: PageBuffer
        public let offset: Int
        public let count: Int
    }

    static let zeros = PageBuffer(count: 64 * 1024)

    private(set) var segments: [Segment] = []
    /// The pool's when it was taken.
    fileprivate var generation: UInt64 = 0

    fileprivate init() {
        segments.reserveCapacity(512)
    }

    /// Zeroes what was read, and the block that was put together: plaintext that must not stay in memory.
    func wipePlaintext() {
        image.wipe(0, count: imageCount)
        imageCount = 0
        block.wipe(0, count: block.count)
    }

    /// Leaves nothing: neither a key's schedule, nor plaintext of a file that has come to be of class A since it was
    /// read.
    fileprivate func wipe() {
        cipher.wipe()
        image.wipe(0, count: mostRead)
        (imageCount, mostRead) = (0, 0)
        block.wipe(0, count: block.count)
    }

    func clearSegments() {
        segments.removeAll(keepingCapacity: true)
    }

    func append(_ buffer: PageBuffer, offset: Int, count: Int) {
        if let last = segments.last, last.buffer === buffer, last.offset + last.count == offset {
            segments[segments.count - 1] = Segment(buffer: buffer, offset: last.offset, count: last.count + count)
        } else {
            segments.append(Segment(buffer: buffer, offset: offset, count: count))
        }
    }

    func appendZeros(_ count: Int) {
        var left = count
        while left > 0 {
            let part = min(left, Workspace.zeros.count)
            segments.append(Segment(buffer: Workspace.zeros, offset: 0, count: part))
            left -= part
        }
    }
}

/// The workspaces of a device. A thread takes one for a call and gives it back; as many exist as calls ran at once.
final class WorkspacePool: Sendable {
    // Lock order: innermost; nothing else is taken while it is held.
    private struct State {
        var idle: [Workspace] = []
        /// Raised by each wipe.
        var generation: UInt64 = 0
        /// Lent since the last wipe, and before it.
        var lent = 0
        var lentBefore = 0
    }

    private let state = Mutex(State())

    func take() -> Workspace {
        state.withLock { state in
            let workspace = state.idle.popLast() ?? Workspace()
            workspace.generation = state.generation
            state.lent += 1
            return workspace
        }
    }

    func give(_ workspace: Workspace) {
        workspace.clearSegments()
        let isKept = state.withLock { state in
            guard workspace.generation == state.generation else { return false }
            state.lent -= 1
            state.idle.append(workspace)
            return true
        }
        // A wipe came while it was in use: it goes, and with it what it holds.
        if !isKept {
            workspace.wipe()
            state.withLock { $0.lentBefore -= 1 }
        }
    }

    /// Has no key schedule and no plaintext stay behind: in what is idle at once, in what is in use when it is given back.
    func wipe() {
        // Taken out for the time: nobody may come to use one that is being wiped.
        let idle = state.withLock { state in
            state.generation += 1
            state.lentBefore += state.lent
            state.lent = 0
            defer { state.idle = [] }
            return state.idle
        }
        for workspace in idle { workspace.wipe() }
        state.withLock { $0.idle += idle }
    }

    /// Waits until everything that was lent before the last ``wipe()`` has been given back.
    func waitForReturns() {
        while state.withLock({ $0.lentBefore > 0 }) { usleep(50) }
    }

    @inline(__always)
    func with<Result, Failure: Error>(_ body: (Workspace) throws(Failure) -> Result) throws(Failure) -> Result {
        let workspace = take()
        defer { give(workspace) }
        return try body(workspace)
    }
}
