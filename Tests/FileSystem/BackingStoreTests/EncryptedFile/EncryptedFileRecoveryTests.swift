// Recovery from chosen power cuts: which groups, holes and length a file then has.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import BackingStore

private let block = [UInt8](repeating: 7, count: 4096)

/// Each test chooses the writes that reach the disk. ``EncryptedFilePowerCutTests`` leaves them to chance.
@Suite("A host that loses power while a file grows, is cut or gets holes")
struct EncryptedFileRecoveryTests {
    @Test("leaves a file in place for overwriting that was synchronized while its writes came out of order")
    func unorderedGrowth() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.fill(0..<64)
        try file.synchronize(dataOnly: true)
        try file.fill([66, 64, 65])
        // The synchronization begins, and is cut off before the tags of the new group are there.
        try file.synchronize(dataOnly: true)
        loseTags(of: 1, in: stored)
        stored.losePower()
        let found = try stored.open()
        #expect(try found.readAll(count: 64 * 4096) == [UInt8](repeating: 7, count: 64 * 4096))
        try found.fill(64..<67)
        #expect(try found.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test("leaves a file its time, though opening it repairs it")
    func timeAfterRepair() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        // Far behind the end: the header stays open.
        try file.write(block, at: 100 * 4096)
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 7)
        func onHost() throws -> Descriptor { try Descriptor.open(path: stored.path, flags: O_RDWR) }
        try onHost().changeTimes(access: time, modification: time)
        stored.losePower()
        let found = try stored.open()
        let shown = try found.timeOfLastWrite()
        #expect(shown.tv_sec == time.tv_sec && shown.tv_nsec == time.tv_nsec)
        try found.commit()
        let closed = try onHost().status().modificationTime
        #expect(closed.tv_sec == time.tv_sec && closed.tv_nsec == time.tv_nsec)
    }

    @Test("leaves in place for overwriting what was never synchronized and lost its tags, and nothing is zeros there")
    func lostTags() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.fill(0..<64)
        try file.synchronize(dataOnly: true)
        try file.fill(64..<67)
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
        try again.fill([64, 66])
        #expect(try again.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test(
        "has a hole where tags of blocks arrived that did not, once the content grows over them", arguments: [10, 70])
    func tagsBehindTheEnd(blocks: Int) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.fill(0..<blocks)
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
        try file.fill(64..<67)
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
        try file.fill(0..<70)
        try file.synchronize(dataOnly: true)
        let before = stored.bytes
        try file.zero(64 * 4096, count: 6 * 4096, releasing: true)
        // The host lets go of the blocks, and the tags do not reach the disk.
        let tags = Int(ContentLayout.tagPageOffset(group: 1))
        stored.bytes = Array(before.prefix(tags + 4096) + stored.bytes.dropFirst(tags + 4096))
        stored.losePower()
        #expect(try stored.open().length == 70 * 4096)
    }

    @Test("has a hole where the tags of a group arrived whose header did not, in a file that was being cut")
    func tagsInACutFile() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.write(block, at: 150 * 4096)
        try file.commit()
        let before = stored.bytes
        try file.write(block, at: 70 * 4096)
        // Of the new group, the tags reach the disk.
        let tags = Int(ContentLayout.tagPageOffset(group: 1))
        var after = before
        after.replaceSubrange(tags..<tags + 4096, with: stored.bytes[tags..<tags + 4096])
        // Then the file is cut to end in it, of which the length reaches the disk.
        let length = Int(ContentLayout.backingLength(of: 80 * 4096))
        stored.bytes = Array(after.prefix(length))
        stored.losePower()
        #expect(try stored.open().readAll() == [UInt8](repeating: 0, count: 80 * 4096))
        #expect(stored.reports.all.isEmpty)
    }

    @Test("A group that lost its tags can be written anew after the header was")
    func tagsWrittenAnew() throws {
        let stored = try withoutTags()
        stored.losePower()
        try stored.open().write(block, at: 0)
        stored.restart()
        let found = try stored.open()
        try found.fill(64..<67)
        #expect(try found.readAll() == [UInt8](repeating: 7, count: 67 * 4096))
    }

    @Test("A group that lost its tags can be written anew by one write that lets the file grow")
    func tagsWrittenAnewByAGrowth() throws {
        let stored = try withoutTags()
        stored.losePower()
        let new = [UInt8](repeating: 9, count: 80 * 4096)
        let found = try stored.open()
        try found.write(new, at: 0)
        #expect(try found.readAll() == new)
    }

    @Test("A tag page that is gone while no power was lost stays an error, for overwriting too")
    func removedTags() throws {
        let stored = try withoutTags()
        let found = try stored.open()
        #expect(throws: Fault.corrupt) { try found.write(block, at: 64 * 4096) }
    }

    /// A file of 67 blocks, the tags of whose second group are gone.
    private func withoutTags() throws -> StoredFile {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.fill(0..<67)
        try file.commit()
        loseTags(of: 1, in: stored)
        return stored
    }

    /// Takes a group's tag page from the disk, as if it had never got there.
    private func loseTags(of group: Int, in stored: StoredFile) {
        var bytes = stored.bytes
        let page = Int(ContentLayout.tagPageOffset(group: group))
        bytes.replaceSubrange(page..<page + 4096, with: repeatElement(0, count: 4096))
        stored.bytes = bytes
    }
}

extension EncryptedFile {
    /// Writes whole blocks, each with a call of its own.
    fileprivate func fill(_ blocks: some Sequence<Int>) throws {
        for index in blocks { try write(block, at: Int64(index) * 4096) }
    }
}
