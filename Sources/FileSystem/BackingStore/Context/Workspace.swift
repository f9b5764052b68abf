// Working memory of calls that move content, pooled so that the data path allocates nothing.

import DataProtection
import Glibc
import HashFunctions
public import Platform

/// The working memory of one call. No lock: one thread has it at a time.
public final class Workspace: @unchecked Sendable {
    /// The most bytes that one call moves: FUSE's largest request.
    public static let largestTransfer = 1 << 20
    /// Tag and map pages that can lie between the blocks of the largest transfer, and its two partial blocks.
    private static let sparePages = 16

    let cipher = BlockCipher()
    /// Hashes the blocks of sealed bundles.
    var sha256 = MessageDigest(.sha256)
    /// The image of a range of the backing file.
    let image = PageBuffer(count: largestTransfer + sparePages * ContentLayout.pageSize)
    /// Bytes of the last read in the image.
    var imageCount = 0 {
        didSet { mostRead = max(mostRead, imageCount) }
    }
    /// The largest ``imageCount`` since the last ``wipe()``.
    private var mostRead = 0
    /// One block of plaintext.
    let block = PageBuffer(count: ContentLayout.blockSize)

    /// A part of a read's result.
    public struct Segment: Sendable {
        public let buffer: PageBuffer
        public let offset: Int
        public let count: Int
    }

    /// Zeros of holes, shared by all threads. Nobody writes to it.
    static let zeros = PageBuffer(count: 64 * 1024)

    private(set) var segments: [Segment] = []
    /// The pool's generation when the workspace was taken.
    fileprivate var generation: UInt64 = 0

    fileprivate init() {
        segments.reserveCapacity(512)
    }

    /// Zeroes the last read and the block: plaintext of class A.
    func wipePlaintext() {
        image.wipe(0, count: imageCount)
        imageCount = 0
        block.wipe(0, count: block.count)
    }

    /// Zeroes everything: also the key schedule, and plaintext of files that were given class A after they were read.
    fileprivate func wipe() {
        cipher.wipe()
        image.wipe(0, count: mostRead)
        (imageCount, mostRead) = (0, 0)
        block.wipe(0, count: block.count)
    }

    func clearSegments() {
        segments.removeAll(keepingCapacity: true)
    }

    /// Adds a segment to the result, or lengthens the last one that it continues.
    func append(_ buffer: PageBuffer, offset: Int, count: Int) {
        if let last = segments.last, last.buffer === buffer, last.offset + last.count == offset {
            segments[segments.count - 1] = Segment(buffer: buffer, offset: last.offset, count: last.count + count)
        } else {
            segments.append(Segment(buffer: buffer, offset: offset, count: count))
        }
    }

    /// Adds a hole to the result.
    func appendZeros(_ count: Int) {
        var left = count
        while left > 0 {
            let part = min(left, Workspace.zeros.count)
            segments.append(Segment(buffer: Workspace.zeros, offset: 0, count: part))
            left -= part
        }
    }
}

/// The workspaces of a device. A call takes one and gives it back; there are as many as calls ever ran at once.
final class WorkspacePool: Sendable {
    // Lock: innermost; no other is taken under it.
    private struct State {
        var idle: [Workspace] = []
        /// Raised by each ``WorkspacePool/wipe()``.
        var generation: UInt64 = 0
        /// Workspaces in use, taken since the last wipe and before it.
        var lent = 0
        var lentBefore = 0
    }

    private let state = ShortLock(State())

    /// Takes an idle workspace, or makes one. For callers with a span, which a closure cannot capture: ``give(_:)``
    /// must follow in a `defer`.
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
        // The pool was wiped meanwhile: the workspace is zeroed and dropped.
        if !isKept {
            workspace.wipe()
            state.withLock { $0.lentBefore -= 1 }
        }
    }

    /// Zeroes idle workspaces at once, and those in use when they are given back.
    func wipe() {
        // Taken out, so that no call takes one that is being zeroed.
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

    /// Waits until every workspace that was in use at the last ``wipe()`` has been given back and zeroed.
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
