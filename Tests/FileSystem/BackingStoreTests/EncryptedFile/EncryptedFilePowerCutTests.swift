// Power cuts that leave a random state of the disk, on files that change at random.

import CHostFaults
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("A host that loses power", .serialized)
struct EncryptedFilePowerCutTests {
    /// A possible state of the disk: each page, and the length, is the synchronized one or the one written since.
    private func leftover(_ durable: [UInt8], _ written: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let length = Bool.random(using: &generator) ? durable.count : written.count
        var bytes = [UInt8](repeating: 0, count: length)
        for start in stride(from: 0, to: length, by: 4096) {
            // With the old length, the host still has the pages that were cut off.
            let isOld = Bool.random(using: &generator) || start >= written.count
            let source = isOld ? durable : written
            let end = min(start + 4096, length, source.count)
            if start < end { bytes.overwrite(from: start, with: source, start..<end) }
        }
        return bytes
    }

    @Test(
        "keeps a file whole that was synchronized, in whatever state closing it was",
        arguments: 1...40 as ClosedRange<UInt64>)
    func synchronized(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        let mirrorPath = stored.path + ".durable"
        let mirror = try Descriptor.open(path: mirrorPath, flags: O_RDWR | O_CREAT, mode: 0o600)
        faults_mirror(mirror.number)
        defer { faults_mirror(-1) }
        var file = try stored.create()
        var model = ContentModel()
        for round in 0..<8 {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let change = ContentModel.random(&generator, largest: 1_500_000)
                try file.apply(change)
                model.apply(change)
            }
            try file.synchronize(dataOnly: Bool.random(using: &generator))
            try file.commit()
            let written = stored.bytes
            let durable = try bytes(of: mirror)
            stored.bytes = leftover(durable, written, &generator)
            stored.losePower()
            file = try stored.open()
            let isWhole = try file.readAll() == model.bytes
            try #require(isWhole, "seed \(seed), round \(round)")
        }
    }

    @Test(
        "leaves every block that was not being written as it was, and the others old, new or EIO",
        arguments: 1...40 as ClosedRange<UInt64>)
    func unsynchronized(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        let mirror = try Descriptor.open(path: stored.path + ".durable", flags: O_RDWR | O_CREAT, mode: 0o600)
        faults_mirror(mirror.number)
        defer { faults_mirror(-1) }
        var file = try stored.create()
        var model = ContentModel()
        for round in 0..<8 {
            let before = ContentModel.random(&generator, largest: 900_000)
            try file.apply(before)
            model.apply(before)
            if Bool.random(using: &generator) { try file.commit() }
            try file.synchronize(dataOnly: false)
            let change = ContentModel.random(&generator, largest: 900_000)
            var after = model
            after.apply(change)
            try file.apply(change)
            if Bool.random(using: &generator) { try file.commit() }
            stored.bytes = leftover(try bytes(of: mirror), stored.bytes, &generator)
            stored.losePower()
            let what: Comment = "seed \(seed), round \(round), \(change)"
            file = try #require(try? stored.open(), what)
            let lengths = min(model.bytes.count, after.bytes.count)...max(model.bytes.count, after.bytes.count)
            try #require(lengths.contains(Int(file.length)), what)
            model.bytes = try rewriteLost(file, change, model.bytes, after.bytes, what)
        }
    }

    @Test(
        "takes a new file whose header never arrived for an empty one, as long as its name may claim that it is",
        arguments: [0, 4096, 4097, 40_960, 300_000])
    func unfinishedCreation(backingLength: Int) throws {
        let stored = try StoredFile()
        try stored.create().write([UInt8](repeating: 7, count: 20_000), at: 0)
        stored.bytes = [UInt8](repeating: 0, count: backingLength)
        stored.losePower()
        let found = try stored.open()
        #expect(found.length == 0)
        // The kernel was told a length that is not so.
        #expect(found.lengthWasRecovered == (backingLength > 4096))
        #expect(stored.bytes.count == 4096)
        try found.write([1, 2, 3], at: 5000)
        try found.commit()
        stored.restart()
        #expect(try stored.open().readAll() == [UInt8](repeating: 0, count: 5000) + [1, 2, 3])
        #expect(stored.reports.all.isEmpty)
    }

    @Test("takes it for an empty one too when the application had given it an older time", arguments: [0, 4096])
    func unfinishedCreationWithAnOlderTime(backingLength: Int) throws {
        let stored = try StoredFile()
        _ = try stored.create()
        stored.bytes = [UInt8](repeating: 0, count: backingLength)
        try shell("touch -d 2001-02-03 '\(stored.path)'")
        stored.losePower()
        #expect(try stored.open().length == 0)
    }

    @Test(
        "has a file that was emptied, or whose header was zeroed, be EIO though other sessions ended badly",
        arguments: [false, true], [0, 4096, 20_000])
    func emptiedLater(powerLost: Bool, backingLength: Int) throws {
        let stored = try StoredFile()
        if powerLost { stored.losePower() } else { stored.kill() }
        // The kernel's clock for files is a tick behind at the most.
        usleep(30_000)
        let file = try stored.create()
        try file.write([UInt8](repeating: 7, count: 20_000), at: 0)
        try file.commit()
        usleep(30_000)
        stored.restart()
        stored.bytes = [UInt8](repeating: 0, count: backingLength)
        #expect(throws: Fault.corrupt) { try stored.open() }
        // And so it stays, whatever happens to the device afterwards.
        usleep(30_000)
        stored.kill()
        #expect(throws: Fault.corrupt) { try stored.open() }
    }

    @Test("has a header of zeros be EIO on a host that never lost power")
    func zeroedHeader() throws {
        let stored = try StoredFile()
        try stored.create().write([UInt8](repeating: 7, count: 20_000), at: 0)
        stored.bytes = [UInt8](repeating: 0, count: 4096) + stored.bytes.dropFirst(4096)
        stored.kill()
        #expect(throws: Fault.corrupt) { try stored.open() }
        stored.restart()
        #expect(throws: Fault.corrupt) { try stored.open() }
    }

    @Test(
        "keeps a length that was synchronized, where the block that is written at its end was a hole",
        arguments: [5000, 700_000], [(false, false), (true, false), (true, true), (false, true)])
    func holeAtTheEnd(length: Int64, closed: (before: Bool, after: Bool)) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.write([UInt8](repeating: 7, count: 100), at: 0)
        try file.truncate(to: length)
        if closed.before { try file.commit() }
        try file.synchronize(dataOnly: true)
        let block = Int(ContentLayout.blockOffset(ContentLayout.block(at: length)))
        let kept = stored.bytes.count
        try file.write([1, 2, 3], at: length)
        if closed.after { try file.commit() }
        // All that was written arrives, but for the block itself and the host's length.
        var bytes = Array(stored.bytes.prefix(kept))
        bytes.replaceSubrange(block..<kept, with: repeatElement(0, count: kept - block))
        stored.bytes = bytes
        stored.losePower()
        let found = try stored.open()
        #expect(found.length == length)
        #expect(try found.readAll(count: 100) == [UInt8](repeating: 7, count: 100))
    }

    /// The content of the file, after each block that gives EIO was written again.
    private func rewriteLost(
        _ file: EncryptedFile, _ change: ContentModel.Change, _ before: [UInt8], _ after: [UInt8], _ what: Comment
    ) throws -> [UInt8] {
        var result: [UInt8] = []
        let length = Int(file.length)
        for start in stride(from: 0, to: length, by: 4096) {
            let range = start..<min(start + 4096, length)
            func padded(_ bytes: [UInt8]) -> [UInt8] {
                var block = [UInt8](repeating: 0, count: range.count)
                block.overwrite(from: 0, with: bytes, min(start, bytes.count)..<min(range.upperBound, bytes.count))
                return block
            }
            let (old, new) = (padded(before), padded(after))
            do {
                let bytes = try file.readAll(from: Int64(start), count: range.count)
                try #require(
                    bytes == old || bytes == new,
                    "\(what), block \(start / 4096): \(bytes.count) of \(range.count) bytes, \(bytes.prefix(32))")
                result += bytes
            } catch Fault.corrupt {
                // A block is written, too, when zeros go over zeros, and when a truncation ends in it.
                let isWritten =
                    old != new || min(before.count, after.count) < start + 4096 || change.written.overlaps(range)
                try #require(isWritten, "\(what), block \(start / 4096) is lost")
                try file.write(new, at: Int64(start))
                result += new
            }
        }
        return result
    }

    private func bytes(of file: borrowing Descriptor) throws -> [UInt8] {
        let length = Int(try file.status().size)
        let buffer = PageBuffer(count: length)
        _ = try file.read(into: buffer, count: length, from: 0)
        return buffer.bytes(0, count: length)
    }
}

extension ContentModel.Change {
    fileprivate var written: Range<Int> {
        switch self {
        case .zero(let offset, let count, _): offset..<offset + count
        case .write(let offset, let bytes): offset..<offset + bytes.count
        case .truncate, .allocate: 0..<0
        }
    }
}
