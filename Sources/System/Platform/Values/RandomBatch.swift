// Random bytes for many small takers: keys and numbers of files.

import Glibc

/// Random bytes, a page of which is drawn from the kernel at a time. Each byte is zeroed when it is taken: nobody gets
/// it a second time, and nobody finds it in memory later.
///
/// The page is locked in memory and left out of core dumps. A child that fork(2) makes gets a page of zeros
/// (`MADV_WIPEONFORK`), by which it knows that it has to draw its own. No process of this project goes on after fork(2)
/// without exec(2).
///
/// Lock: `next`, innermost. Only the kernel is called under it.
@safe public final class RandomBatch: @unchecked Sendable {
    /// The batch of this process.
    public static let shared = unsafe RandomBatch { unsafe Entropy.fill($0) }

    /// Whether the page is kept out of swap. False where RLIMIT_MEMLOCK is too small.
    public let isLocked: Bool

    /// The first byte of the page is not zero while there is something to take.
    private static let start = 8

    /// Valid from init to deinit, for one page.
    @unsafe private let base: UnsafeMutableRawPointer
    @unsafe private let draw: (UnsafeMutableRawBufferPointer) -> Void
    /// The offset of the next byte to be taken.
    private let next = ShortLock(PageBuffer.pageSize)

    /// - Parameter draw: fills a range with random bytes. A parameter for tests.
    @unsafe init(draw: @escaping (UnsafeMutableRawBufferPointer) -> Void) {
        unsafe self.draw = draw
        let page = unsafe mmap(nil, PageBuffer.pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let page = unsafe page, unsafe page != MAP_FAILED else { preconditionFailure("out of memory for keys") }
        unsafe base = page
        _ = unsafe madvise(page, PageBuffer.pageSize, MADV_DONTDUMP)
        _ = unsafe madvise(page, PageBuffer.pageSize, MADV_WIPEONFORK)
        isLocked = unsafe mlock(page, PageBuffer.pageSize) == 0
    }

    deinit {
        discard()
        unsafe munmap(base, PageBuffer.pageSize)
    }

    /// Takes as many bytes as there is memory for. More than a batch has come straight from the kernel.
    public func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard bytes.count <= PageBuffer.pageSize - RandomBatch.start else { return unsafe draw(bytes) }
        guard let target = bytes.baseAddress, bytes.count > 0 else { return }
        next.withLock { next in
            let isEmpty = unsafe base.load(as: UInt8.self) == 0
            if isEmpty || next > PageBuffer.pageSize - bytes.count {
                let count = PageBuffer.pageSize - RandomBatch.start
                unsafe draw(UnsafeMutableRawBufferPointer(start: base + RandomBatch.start, count: count))
                unsafe base.storeBytes(of: 1, as: UInt8.self)
                next = RandomBatch.start
            }
            unsafe target.copyMemory(from: base + next, byteCount: bytes.count)
            unsafe explicit_bzero(base + next, bytes.count)
            next += bytes.count
        }
    }

    /// A random number.
    public func number() -> UInt64 {
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe fill($0) }
        return number
    }

    /// Zeroes what has not been taken, so that it becomes no key any more.
    public func discard() {
        next.withLock { next in
            unsafe explicit_bzero(base, PageBuffer.pageSize)
            next = PageBuffer.pageSize
        }
    }

    /// The page as it is, and its address, for tests.
    var page: (address: UInt, bytes: [UInt8]) {
        next.withLock { _ in
            unsafe (
                UInt(bitPattern: base), [UInt8](UnsafeRawBufferPointer(start: base, count: PageBuffer.pageSize))
            )
        }
    }
}
