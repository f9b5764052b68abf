// Tests of the random bytes that are drawn in batches.

import Glibc
import Synchronization
import Testing

@testable import Platform

@Suite struct RandomBatchTests {
    /// Counts how often it is asked, and gives each number once, from 1 on, eight bytes each.
    private final class Source: Sendable {
        let draws = Atomic(0)
        private let next = Atomic<UInt64>(1)

        func fill(_ bytes: UnsafeMutableRawBufferPointer) {
            draws.add(1, ordering: .relaxed)
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                unsafe bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
            }
        }

        func batch() -> RandomBatch { unsafe RandomBatch { [self] in unsafe fill($0) } }
    }

    private let source = Source()

    @Test func `one draw serves many`() {
        let batch = source.batch()
        #expect(source.draws.load(ordering: .relaxed) == 0, "none before the first is needed")
        #expect((0..<511).map { _ in batch.number() } == Array(1...511))
        #expect(source.draws.load(ordering: .relaxed) == 1)
        #expect(batch.number() == 512)
        #expect(source.draws.load(ordering: .relaxed) == 2)
    }

    @Test func `what was taken is zero in the batch, and the rest is not`() {
        let batch = source.batch()
        for _ in 0..<100 { _ = batch.number() }
        let bytes = batch.page.bytes
        #expect(bytes[8..<808].allSatisfy { $0 == 0 })
        #expect(bytes[808..<816].contains { $0 != 0 })
        for _ in 100..<511 { _ = batch.number() }
        #expect(batch.page.bytes.dropFirst(8).allSatisfy { $0 == 0 })
    }

    @Test func `no number is given to two threads`() throws {
        let batch = source.batch()
        let taken = Mutex<[UInt64]>([])
        let threads = try (0..<4).map { index in
            try HostThread(name: "taker-\(index)") {
                let numbers = (0..<5000).map { _ in batch.number() }
                taken.withLock { $0 += numbers }
            }
        }
        for thread in threads { thread.join() }
        let all = taken.withLock { $0 }
        #expect(Set(all).count == 20_000)
        #expect(!all.contains(0), "none of a byte that was taken")
    }

    @Test func `more than a batch has comes straight from the source, and no bytes cost nothing`() {
        let batch = source.batch()
        let large = PageBuffer(count: 8192)
        unsafe batch.fill(UnsafeMutableRawBufferPointer(start: large.base, count: large.count))
        #expect(large.load(UInt64.self, at: 0) == 1 && large.load(UInt64.self, at: 8184) == 1024)
        #expect(batch.page.bytes.allSatisfy { $0 == 0 })
        unsafe batch.fill(UnsafeMutableRawBufferPointer(start: large.base, count: 0))
        #expect(source.draws.load(ordering: .relaxed) == 1)
    }

    @Test func `a batch that was discarded is zero, and is drawn anew`() {
        let batch = source.batch()
        #expect(batch.number() == 1)
        batch.discard()
        #expect(batch.page.bytes.allSatisfy { $0 == 0 })
        #expect(batch.number() == 512)
    }

    // A child begins with a page of zeros, as a discarded batch.
    @Test func `the kernel keeps the page out of children, dumps and swap`() throws {
        let batch = RandomBatch.shared
        _ = batch.number()
        try #require(batch.isLocked, "this process may not lock memory: raise ulimit -l")
        let address = batch.page.address
        let lines = try String(decoding: HostPath.contents("/proc/self/smaps"), as: UTF8.self).split(separator: "\n")
        // The first line of a mapping begins with its range.
        let mapping = try #require(
            lines.firstIndex { line in
                let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                return ends.count == 2 && (ends[0]..<ends[1]).contains(address)
            })
        let flags = try #require(lines[mapping...].first { $0.hasPrefix("VmFlags:") }).split(separator: " ")
        for flag in ["wf", "dd", "lo"] { #expect(flags.contains { $0 == flag }, "\(flag) of \(flags)") }
    }

    @Test func `the process's own batch gives other bytes each time`() {
        #expect(Set((0..<1000).map { _ in RandomBatch.shared.number() }).count == 1000)
    }
}
