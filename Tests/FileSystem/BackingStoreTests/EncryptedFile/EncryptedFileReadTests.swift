// Reads into memory of the caller, as a reply over io_uring has it.

import Foundation
import Platform
import SandboxModel
import Testing

@testable import BackingStore

@Suite("Reads into the caller's memory")
struct EncryptedFileReadTests {
    private let stored: StoredFile
    private static let lead = 512

    init() throws { stored = try StoredFile() }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }

    /// The bytes of a read, and whether each lay in the memory where it belongs in the range.
    private func read(
        _ file: EncryptedFile, count: Int, from offset: Int64, into memory: PageBuffer
    ) throws -> (bytes: [UInt8], areInPlace: Bool) {
        var bytes: [UInt8] = []
        var areInPlace = true
        let range = BufferRange(memory, offset: EncryptedFileReadTests.lead, count: count)
        try file.read(count: count, from: offset, into: range) { result in
            for index in 0..<result.segmentCount {
                let (buffer, start, count) = result.segment(index)
                areInPlace =
                    areInPlace && buffer === memory && start == EncryptedFileReadTests.lead + bytes.count
                bytes += buffer.bytes(start, count: count)
            }
        }
        return (bytes, areInPlace)
    }

    private func memory(_ count: Int) -> PageBuffer {
        let memory = PageBuffer(count: EncryptedFileReadTests.lead + count)
        memory.copy([UInt8](repeating: 0xEE, count: memory.count), to: 0)
        return memory
    }

    @Test("Whole blocks lie where they belong", arguments: ProtectionClass.allCases)
    func whole(protection: ProtectionClass) throws {
        let content = bytes(300_000)
        let file = try stored.create(protection, content)
        for (offset, count) in [(0, 4096), (0, 131_072), (8192, 65_536), (290_816, 16_384)] {
            let memory = memory(count)
            let got = try read(file, count: count, from: Int64(offset), into: memory)
            #expect(got.bytes == Array(content[offset..<min(offset + count, content.count)]))
            #expect(got.areInPlace)
            let isUntouched = memory.bytes(0, count: EncryptedFileReadTests.lead).allSatisfy { $0 == 0xEE }
            #expect(isUntouched, "the bytes before the range")
        }
    }

    @Test(
        "A range that begins or ends within a block is read all the same",
        arguments: [(1, 4096), (4000, 9000), (0, 5000)])
    func partial(offset: Int, count: Int) throws {
        let content = bytes(20_000)
        let file = try stored.create(.none, content)
        let memory = memory(count)
        let got = try read(file, count: count, from: Int64(offset), into: memory)
        #expect(got.bytes == Array(content[offset..<offset + count]))
        let rest = EncryptedFileReadTests.lead + count
        let isUntouched = memory.bytes(rest, count: memory.count - rest).allSatisfy { $0 == 0xEE }
        #expect(isUntouched, "the bytes behind the range")
    }

    @Test("Holes between blocks are zeros")
    func holes() throws {
        let file = try stored.create(.none, bytes(4096))
        try file.write(bytes(4096), at: 40_960)
        let got = try read(file, count: 65_536, from: 0, into: memory(65_536))
        #expect(got.bytes == bytes(4096) + [UInt8](repeating: 0, count: 36_864) + bytes(4096))
    }

    @Test("A damaged block fails the read, and no byte of it is in the memory")
    func damaged() throws {
        let file = try stored.create(.none, bytes(12_288))
        try file.commit()
        let offset = ContentLayout.blockOffset(1) + 100
        let host = try Descriptor.open(path: stored.path, flags: O_RDWR)
        let byte = PageBuffer(count: 1)
        _ = try host.read(into: byte, count: 1, from: offset)
        try [byte.load(UInt8.self, at: 0) ^ 1].withSpan { span throws(SystemError) in try host.write(span, to: offset) }
        let memory = memory(12_288)
        #expect(throws: (any Error).self) { try read(file, count: 12_288, from: 0, into: memory) }
        #expect(memory.isZero(EncryptedFileReadTests.lead + 4096, count: 4096))
    }

    @Test("Of class A nothing is left in memory but what the caller has")
    func complete() throws {
        let content = bytes(65_536)
        let file = try stored.create(.complete, content)
        _ = try read(file, count: 65_536, from: 0, into: memory(65_536))
        let workspace = stored.context.workspaces.take()
        defer { stored.context.workspaces.give(workspace) }
        for start in stride(from: 0, to: 65_536, by: 4096) {
            #expect(workspace.image.bytes(start, count: 4096) != Array(content[start..<start + 4096]))
        }
        #expect(workspace.block.isZero(0, count: 4096))
    }
}
