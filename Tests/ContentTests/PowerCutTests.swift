import CHostFaults
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("A host that loses power", .serialized)
struct PowerCutTests {
    /// What may be on the disk: of each page, and of the length, what was synchronized last or what was written since.
    private func leftover(_ durable: [UInt8], _ written: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let length = Bool.random(using: &generator) ? durable.count : written.count
        var bytes = [UInt8](repeating: 0, count: length)
        for start in stride(from: 0, to: length, by: 4096) {
            // A host that still knows the old length has not let go of what was cut off.
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
            model.bytes = try settle(file, change, model.bytes, after.bytes, what)
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
        #expect(found.lengthWasSettled == (backingLength > 4096))
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

    @Test("leaves a file in place for overwriting that was synchronized while its writes came out of order")
    func unorderedGrowth() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<64 { try file.write(block, at: Int64(index) * 4096) }
        try file.synchronize(dataOnly: true)
        for index in [66, 64, 65] { try file.write(block, at: Int64(index) * 4096) }
        // The synchronization begins, and is cut off before the tags of the new group are there.
        try file.synchronize(dataOnly: true)
        loseTags(of: 1, in: stored)
        stored.losePower()
        let found = try stored.open()
        #expect(try found.readAll(count: 64 * 4096) == [UInt8](repeating: 7, count: 64 * 4096))
        for index in 64..<67 { try found.write(block, at: Int64(index) * 4096) }
        #expect(try found.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test("leaves in place for overwriting what was never synchronized and lost its tags, and nothing is zeros there")
    func lostTags() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<64 { try file.write(block, at: Int64(index) * 4096) }
        try file.synchronize(dataOnly: true)
        for index in 64..<67 { try file.write(block, at: Int64(index) * 4096) }
        // Header and length reach the disk, the tags of the new group do not.
        try file.commit()
        loseTags(of: 1, in: stored)
        stored.losePower()
        let found = try stored.open()
        #expect(try found.readAll(count: 64 * 4096) == [UInt8](repeating: 7, count: 64 * 4096))
        #expect(throws: Fault.corrupt) { try found.readAll(from: 64 * 4096, count: 10) }
        #expect(throws: Fault.corrupt) { try found.write([1, 2, 3], at: 64 * 4096) }
        #expect(throws: Fault.corrupt) { try found.write([1, 2, 3], at: 65 * 4096 + 4093) }
        try found.write(block, at: 65 * 4096)
        #expect(try found.readAll(from: 65 * 4096, count: 4096) == block)
        for index in [64, 66] {
            #expect(throws: Fault.corrupt) { try found.readAll(from: Int64(index) * 4096, count: 10) }
            #expect(throws: Fault.corrupt) { try found.write([1, 2, 3], at: Int64(index) * 4096 + 1) }
        }
        try found.commit()
        let again = try stored.open()
        for index in [64, 66] { try again.write(block, at: Int64(index) * 4096) }
        #expect(try again.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test(
        "has a hole where tags of blocks arrived that did not, once the content grows over them", arguments: [10, 70])
    func tagsBehindTheEnd(blocks: Int) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<blocks { try file.write(block, at: Int64(index) * 4096) }
        try file.synchronize(dataOnly: true)
        try file.commit()
        let before = stored.bytes
        for index in blocks..<blocks + 5 { try file.write(block, at: Int64(index) * 4096) }
        // The last group's tags reach the disk and, where they are not in it, the header does not.
        let page = Int(ContentLayout.tagPageOffset(group: blocks / 64))
        let tags = page..<page + 4096
        var after = before
        after.replaceSubrange(tags, with: stored.bytes[tags])
        stored.bytes = after
        stored.losePower()
        if blocks > 64 {
            let reader = SharedDescriptor(try Descriptor.open(path: stored.path, flags: O_RDONLY))
            #expect(try EncryptedFile.open(reader, isWritable: false, context: stored.context).needsWriter)
        }
        let found = try stored.open()
        #expect(found.length == Int64(blocks) * 4096)
        // The header is written, and the file opened again, before it grows.
        try found.write([1], at: 0)
        try found.commit()
        stored.restart()
        let again = try stored.open()
        try again.truncate(to: Int64(blocks + 20) * 4096)
        let grown = try again.readAll(from: Int64(blocks) * 4096, count: 20 * 4096)
        #expect(grown == [UInt8](repeating: 0, count: 20 * 4096))
        #expect(stored.reports.all.isEmpty)
    }

    @Test("keeps what is written after it into a hole in which the tags of a lost growth lie")
    func tagsOfALostGrowth() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.truncate(to: 65 * 4096)
        try file.commit()
        let before = stored.bytes
        for index in 64..<67 { try file.write(block, at: Int64(index) * 4096) }
        // All of it arrives but the header, which was to announce it.
        stored.bytes = Array(before.prefix(4096) + stored.bytes.dropFirst(4096))
        stored.losePower()
        let found = try stored.open()
        #expect(try found.readAll() == [UInt8](repeating: 0, count: 65 * 4096))
        try found.write(block, at: 64 * 4096)
        try found.synchronize(dataOnly: false)
        try found.commit()
        stored.restart()
        #expect(try stored.open().readAll(from: 64 * 4096, count: 4096) == block)
        #expect(stored.reports.all.isEmpty)
    }

    @Test("keeps a length that was synchronized, where nothing was written up to it", arguments: [100, 70_000])
    func extendedEnd(start: Int) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        let old = [UInt8](repeating: 7, count: start)
        try file.write(old, at: 0)
        try file.truncate(to: Int64(start) + 50)
        try file.synchronize(dataOnly: true)
        let before = stored.bytes
        try file.write([UInt8](repeating: 8, count: 10_000), at: Int64(start) + 20)
        // The header reaches the disk, with the tags of a growth of which nothing else does.
        stored.bytes = Array(stored.bytes.prefix(4096) + before.dropFirst(4096))
        stored.losePower()
        #expect(try stored.open().readAll() == old + [UInt8](repeating: 0, count: 50))
    }

    @Test("keeps its length when a hole was being made up to its end")
    func holeToTheEnd() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<70 { try file.write(block, at: Int64(index) * 4096) }
        try file.synchronize(dataOnly: true)
        let before = stored.bytes
        try file.zero(64 * 4096, count: 6 * 4096, releasing: true)
        // The host lets go of the blocks, and the tags do not reach the disk.
        let tags = Int(ContentLayout.tagPageOffset(group: 1))
        stored.bytes = Array(before.prefix(tags + 4096) + stored.bytes.dropFirst(tags + 4096))
        stored.losePower()
        #expect(try stored.open().length == 70 * 4096)
    }

    @Test("A group that lost its tags can be written anew after the header was")
    func tagsWrittenAnew() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<67 { try file.write(block, at: Int64(index) * 4096) }
        try file.commit()
        loseTags(of: 1, in: stored)
        stored.losePower()
        try stored.open().write(block, at: 0)
        stored.restart()
        let found = try stored.open()
        for index in 64..<67 { try found.write(block, at: Int64(index) * 4096) }
        #expect(try found.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test("A tag page that is gone while no power was lost stays an error, for overwriting too")
    func removedTags() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<67 { try file.write(block, at: Int64(index) * 4096) }
        try file.commit()
        loseTags(of: 1, in: stored)
        let found = try stored.open()
        #expect(throws: Fault.corrupt) { try found.write(block, at: 64 * 4096) }
    }

    private let block = [UInt8](repeating: 7, count: 4096)

    /// Takes a group's tag page from the disk, as if it had never got there.
    private func loseTags(of group: Int, in stored: StoredFile) {
        var bytes = stored.bytes
        let page = Int(ContentLayout.tagPageOffset(group: group))
        bytes.replaceSubrange(page..<page + 4096, with: repeatElement(0, count: 4096))
        stored.bytes = bytes
    }

    /// What the file holds now, once each block that gives EIO has been written again.
    private func settle(
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
