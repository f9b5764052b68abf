// Tests of an entry's memory, with the kernel's part played by the test (struct fuse_uring_req_header of linux/fuse.h).

import CRing
import Glibc
import Platform
import Testing

@testable import FuseBridge

struct RingEntryTests {
    private static let payload = 8192

    /// An entry with a request as the kernel delivers it.
    private func entry(operation: [UInt8], content: [UInt8], length: Int? = nil) throws -> RingEntry {
        let entry = try RingEntry(RingQueue(0), payload: RingEntryTests.payload)
        let memory = unsafe entry.memory
        let header = unsafe memory.header!
        unsafe header.storeBytes(of: UInt32(length ?? 40 + operation.count + content.count), as: UInt32.self)
        unsafe header.storeBytes(of: 16, toByteOffset: 4, as: UInt32.self)
        unsafe header.storeBytes(of: 77, toByteOffset: 8, as: UInt64.self)
        unsafe (header + 128).copyMemory(from: operation, byteCount: operation.count)
        unsafe header.storeBytes(of: 4711, toByteOffset: 264, as: UInt64.self)
        unsafe header.storeBytes(of: UInt32(content.count), toByteOffset: 272, as: UInt32.self)
        unsafe memory.payload.copyMemory(from: content, byteCount: min(content.count, RingEntryTests.payload))
        return entry
    }

    private func reply(error: Int32, _ content: [UInt8], to entry: RingEntry) -> Bool {
        var header = [UInt8](repeating: 0, count: 16)
        unsafe header.withUnsafeMutableBytes { unsafe $0.storeBytes(of: error, toByteOffset: 4, as: Int32.self) }
        var content = content
        return unsafe header.withUnsafeMutableBytes { header in
            unsafe content.withUnsafeMutableBytes { content in
                let vector = unsafe [
                    iovec(iov_base: header.baseAddress, iov_len: 16),
                    iovec(iov_base: content.baseAddress, iov_len: content.count),
                ]
                return unsafe entry.answer(vector, count: 2)
            }
        }
    }

    private func word<Value: FixedWidthInteger & BitwiseCopyable>(
        _ entry: RingEntry, _ offset: Int, _: Value.Type
    ) -> Value {
        unsafe entry.memory.header.load(fromByteOffset: offset, as: Value.self)
    }

    @Test func aRequestIsAwaitedIfItNamesAProcess() throws {
        let entry = try entry(operation: [], content: [])
        #expect(!entry.isAwaited)
        unsafe entry.memory.header.storeBytes(of: 4711, toByteOffset: 32, as: UInt32.self)
        #expect(entry.isAwaited)
    }

    @Test func aRequestIsInOnePiece() throws {
        let entry = try entry(operation: [1, 2, 3, 4, 5, 6, 7, 8], content: [9, 10])
        let request = unsafe try #require(entry.begin())
        #expect(request.count == 50)
        #expect(unsafe Array(request.suffix(10)) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        #expect(unsafe request.load(fromByteOffset: 8, as: UInt64.self) == 77)
        #expect(entry.commit == 4711)
        #expect(entry.serves(77) && !entry.isAnswered)
        entry.end()
        #expect(!entry.serves(77))
    }

    @Test(arguments: [0, 39, 40 + 128 + 1, 1 << 31])
    func lengthsThatContradictEachOtherAreNoRequest(length: Int) throws {
        let entry = try entry(operation: [], content: [], length: length)
        #expect(unsafe entry.begin() == nil)
        entry.answer(error: EIO)
        #expect(word(entry, 4, Int32.self) == -EIO)
    }

    @Test func aPayloadLargerThanTheMemoryIsNoRequest() throws {
        let size = RingEntryTests.payload + 1
        let entry = try entry(operation: [], content: [UInt8](repeating: 1, count: size))
        #expect(unsafe entry.begin() == nil)
    }

    @Test func aReplyHasHeaderAndContentInTheirPlaces() throws {
        let entry = try entry(operation: [], content: [])
        _ = unsafe entry.begin()
        #expect(reply(error: 0, [5, 6, 7], to: entry))
        #expect(entry.isAnswered)
        #expect(word(entry, 0, UInt32.self) == 19)
        #expect(word(entry, 4, Int32.self) == 0)
        #expect(word(entry, 8, UInt64.self) == 77)
        #expect(word(entry, 272, UInt32.self) == 3)
        #expect(unsafe Array(UnsafeRawBufferPointer(start: entry.memory.payload, count: 3)) == [5, 6, 7])
    }

    @Test func aReplyLargerThanTheMemoryIsAnError() throws {
        let entry = try entry(operation: [], content: [])
        _ = unsafe entry.begin()
        #expect(!reply(error: 0, [UInt8](repeating: 1, count: RingEntryTests.payload + 1), to: entry))
        #expect(word(entry, 4, Int32.self) == -EIO)
        #expect(word(entry, 272, UInt32.self) == 0)
    }

    @Test func aLateReplyIsTakenOnceAndForItsRequestOnly() throws {
        let entry = try entry(operation: [], content: [])
        _ = unsafe entry.begin()
        let bytes = [UInt8](repeating: 0, count: 16) + [1]
        #expect(!entry.answerLate(78, bytes))
        #expect(entry.answerLate(77, bytes))
        #expect(!entry.answerLate(77, bytes))
        entry.answer(late: try #require(entry.late.access { entry.take(&$0) }))
        #expect(word(entry, 272, UInt32.self) == 1)
        entry.end()
        #expect(!entry.answerLate(77, bytes), "it is over")
    }

    @Test func aRequestBeginsWhileAnotherThreadHoldsTheLockOfLateReplies() throws {
        let entry = try entry(operation: [], content: [])
        let hasBegun = Semaphore()
        let thread = try entry.late.access { _ in
            let thread = try HostThread(name: "worker") {
                _ = unsafe entry.begin()
                hasBegun.signal()
            }
            #expect(hasBegun.wait(milliseconds: 10_000))
            return thread
        }
        thread.join()
    }

    @Test func nothingOfARequestAndItsReplyIsLeftAfterAWipe() throws {
        let entry = try entry(operation: [1, 2, 3], content: [UInt8](repeating: 4, count: 100))
        let request = unsafe try #require(entry.begin())
        let start = UnsafeRawPointer(request.baseAddress!)
        _ = reply(error: 0, [UInt8](repeating: 5, count: 5000), to: entry)
        entry.wipe()
        let memory = unsafe entry.memory
        #expect(unsafe UnsafeRawBufferPointer(start: start, count: 43).allSatisfy { $0 == 0 })
        #expect(unsafe UnsafeRawBufferPointer(start: memory.header, count: 288).allSatisfy { $0 == 0 })
        #expect(unsafe UnsafeRawBufferPointer(start: memory.payload, count: 8192).allSatisfy { $0 == 0 })
    }
}
