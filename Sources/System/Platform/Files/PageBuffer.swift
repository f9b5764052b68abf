// Memory for content between the kernel, the cipher and the backing file.

import Glibc
public import SandboxModel

/// Page-aligned memory of fixed size. An access outside of it traps.
///
/// Aligned because a write(2) that is cut short ends at a page boundary of its source, so that a block that fills whole
/// pages is written whole or not at all. Has no lock: the owner decides which thread may touch it when.
@safe public final class PageBuffer: @unchecked Sendable {
    /// Bytes of a page of memory. The blocks of encrypted files and of hash trees merely equal it.
    public static let pageSize = 4096

    /// In bytes, a multiple of ``pageSize``.
    public let count: Int

    /// Valid from init to deinit, for `count` bytes.
    @unsafe public let base: UnsafeMutableRawPointer

    /// From this size on mmap(2) provides the memory: its pages are zero without being touched. A mount has megabytes
    /// for the largest requests, which few devices ever see.
    private static let smallestMapping = 64 << 10

    /// Whether the memory is a mapping of its own.
    private let isMapped: Bool

    /// `mmap(2)`, or memory of the allocator if it is small.
    /// - Parameter count: in bytes, rounded up to whole pages. All bytes are zero at first.
    public init(count: Int) {
        self.count = PageBuffer.wholePages(count)
        isMapped = self.count >= PageBuffer.smallestMapping
        guard isMapped else {
            unsafe base = UnsafeMutableRawPointer.allocate(byteCount: self.count, alignment: PageBuffer.pageSize)
            unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: self.count)
            return
        }
        guard let mapping = unsafe PageBuffer.map(self.count) else {
            fatalError("no memory for a buffer of \(self.count) bytes")
        }
        unsafe base = mapping
    }

    /// `mmap(2)`, for memory that the caller can do without.
    /// - Parameter count: as for ``init(count:)``.
    /// - Throws: ENOMEM.
    public init(mapping count: Int) throws(SystemError) {
        self.count = PageBuffer.wholePages(count)
        isMapped = true
        guard let mapping = unsafe PageBuffer.map(self.count) else { throw SystemError(code: ENOMEM) }
        unsafe base = mapping
    }

    deinit {
        if isMapped { unsafe munmap(base, count) } else { unsafe base.deallocate() }
    }

    private static func wholePages(_ count: Int) -> Int { (max(count, 1) + pageSize - 1) / pageSize * pageSize }

    private static func map(_ count: Int) -> UnsafeMutableRawPointer? {
        let mapping = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return unsafe mapping == MAP_FAILED ? nil : mapping
    }

    @inline(__always)
    private func check(_ offset: Int, _ length: Int) {
        precondition(offset >= 0 && length >= 0 && offset <= count - length, "outside the buffer")
    }

    /// A fixed-width integer stored little-endian at any offset.
    @inline(__always)
    public func load<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value {
        check(offset, MemoryLayout<Value>.size)
        return unsafe Value(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The counterpart of ``load(_:at:)``: little-endian, at any offset.
    @inline(__always)
    public func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        check(offset, MemoryLayout<Value>.size)
        unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }

    @inline(__always)
    public func copy(_ source: borrowing RawSpan, to offset: Int) {
        check(offset, source.byteCount)
        let target = unsafe base + offset
        unsafe source.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe target.copyMemory(from: start, byteCount: bytes.count)
        }
    }

    /// Copies between buffers, or within one: the ranges may overlap.
    @inline(__always)
    public func copy(from source: PageBuffer, at sourceOffset: Int, count length: Int, to offset: Int) {
        check(offset, length)
        source.check(sourceOffset, length)
        unsafe memmove(base + offset, source.base + sourceOffset, length)
    }

    public func copy(_ bytes: some Collection<UInt8>, to offset: Int) {
        check(offset, bytes.count)
        unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count).copyBytes(from: bytes)
    }

    @inline(__always)
    public func zero(_ offset: Int, count length: Int) {
        check(offset, length)
        unsafe memset(base + offset, 0, length)
    }

    /// `explicit_bzero(3)`, for memory that held secrets or plaintext: the compiler may drop a memset(3) whose result
    /// nobody reads.
    public func wipe(_ offset: Int, count length: Int) {
        check(offset, length)
        unsafe explicit_bzero(base + offset, length)
    }

    /// `madvise(2)` with MADV_DONTNEED: gives the memory of a mapping back to the host until it is used again. Its
    /// bytes are zero then; those of other memory stay.
    public func giveBack() {
        if isMapped { unsafe madvise(base, count, MADV_DONTNEED) }
    }

    public func bytes(_ offset: Int, count length: Int) -> [UInt8] {
        check(offset, length)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: base + offset, count: length))
    }

    /// Whether two ranges of this buffer hold the same bytes.
    @inline(__always)
    public func equals(_ offset: Int, _ other: Int, count length: Int) -> Bool {
        check(offset, length)
        check(other, length)
        return unsafe memcmp(base + offset, base + other, length) == 0
    }

    public func isZero(_ offset: Int, count length: Int) -> Bool {
        check(offset, length)
        guard length > 0 else { return true }
        // The first byte is zero and every byte equals the one before it.
        return unsafe base.load(fromByteOffset: offset, as: UInt8.self) == 0
            && memcmp(base + offset, base + offset + 1, length - 1) == 0
    }

    /// Lends the bytes of a range to `body`.
    @inline(__always)
    public func withBytes<Result, Failure: Error>(
        _ offset: Int, count length: Int, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        check(offset, length)
        // The span lives no longer than the call, and the buffer outlives the call because `self` does.
        return try body(unsafe RawSpan(_unsafeStart: UnsafeRawPointer(base) + offset, byteCount: length))
    }
}
