// The hot paths allocate nothing in the steady state, and the others little.

import BackingStore
import CAllocations
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("Heap allocations of a volume", .serialized)
struct AllocationTests {
    @Test("Nothing, for reading and overwriting 4 KiB at random")
    func dataPath() throws {
        let home = try TestHome()
        let volume = home.volume
        let (_, handle) = try volume.create("file", in: try volume.node("Documents"))
        defer { volume.close(handle) }
        let blocks = 4096
        var generator = SeededGenerator(seed: 1)
        let bytes = generator.bytes(1 << 20)
        for part in 0..<16 { try volume.write(handle, bytes, at: part << 20) }

        func overwrite() throws -> Int {
            let before = allocations_count()
            for _ in 0..<1000 {
                let offset = Int64(generator.next() % UInt64(blocks)) * 4096
                _ = try unsafe volume.write(handle, bytes: bytes.span.bytes.extracting(first: 4096), to: offset)
            }
            return allocations_count() - before
        }
        func read() throws -> Int {
            var got = 0
            let before = allocations_count()
            for _ in 0..<1000 {
                let offset = Int64(generator.next() % UInt64(blocks)) * 4096
                try volume.read(handle, count: 4096, from: offset) { read in got += read.segment(0).count }
            }
            let count = allocations_count() - before
            #expect(got == 4096 * 1000)
            return count
        }
        // The first round fills the caches.
        _ = try (overwrite(), read())
        let written = try overwrite()
        #expect(written == 0, "1,000 overwrites")
        let readings = try read()
        #expect(readings == 0, "1,000 reads")
    }

    /// The allocations of each of many calls, the first of which fill tables and caches.
    private func each(_ count: Int = 500, _ call: (Int) throws -> Void) rethrows -> Double {
        for number in 0..<count { try call(number) }
        let before = allocations_count()
        for number in count..<2 * count { try call(number) }
        return Double(allocations_count() - before) / Double(count)
    }

    private static func name(_ number: Int) -> FileName { FileName("a-name-that-is-long-\(10_000 + number)")! }

    @Test("Nothing, for a name that is known and for its status, and few for a name that is not")
    func namesAndStatus() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let (file, handle) = try volume.create("file", in: documents)
        volume.close(handle)
        let name: FileName = "file"
        let known = try each { _ in volume.forget(try volume.lookup(name, in: documents).node, count: 1) }
        #expect(known == 0, "lookup of a name that the kernel knows")
        let statuses = try each { _ in _ = try volume.status(of: file.node, handle: nil) }
        #expect(statuses == 0, "getattr")
        let open = try volume.open(file.node, flags: O_RDWR)
        let throughHandle = try each { _ in _ = try volume.status(of: file.node, handle: open) }
        #expect(throughHandle == 0, "getattr of an open file")
        volume.close(open)
        volume.forget(file.node, count: 1)
        let unknown = try each { _ in volume.forget(try volume.lookup(name, in: documents).node, count: 1) }
        #expect(unknown <= 3, "lookup of a name that the kernel has forgotten, and its forget")
    }

    @Test("Few, for a file that is created and closed, and for one that is removed")
    func newFiles() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let names = (0..<1000).map(AllocationTests.name)
        var known: [NodeID] = []
        known.reserveCapacity(names.count)
        let bytes = [UInt8](repeating: 1, count: 4096)
        let creations = try each { number in
            let (entry, handle) = try volume.create(names[number], in: documents)
            try volume.write(handle, bytes, at: 0)
            volume.close(handle)
            known.append(entry.node)
        }
        #expect(creations < 16, "create, write and close")
        let moved = (0..<1000).map { FileName("another-name-that-is-long-\(10_000 + $0)")! }
        let renames = try each { number in
            try volume.rename(names[number], in: documents, to: moved[number], in: documents, mode: .replacing)
        }
        #expect(renames < 44, "rename: as many as before it took locks of entries")
        let removals = try each { number in
            try volume.removeFile(moved[number], in: documents)
            volume.forget(known[number], count: 1)
        }
        #expect(removals < 5, "unlink and forget")
    }

    @Test("Few, for each entry of a listing with what looking it up gives")
    func listing() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        for number in 0..<1000 {
            let (_, handle) = try volume.create(AllocationTests.name(number), in: documents)
            volume.close(handle)
        }
        var listed = 0
        let listings = try each(1) { _ in
            try volume.list(documents, from: 0, withEntries: true) { item in
                listed += 1
                if let entry = item.entry { volume.forget(entry.node, count: 1) }
                return true
            }
        }
        let entries = Double(listed / 2)
        #expect(entries == 1002)
        #expect(listings / entries < 1.1, "an entry of readdirplus")
    }

    @Test("At most 300 bytes for each file that is known, and nothing for one that was forgotten")
    func knownFiles() throws {
        let inMemory = (try? FileManager.default.attributesOfItem(atPath: "/dev/shm")) != nil
        let home = try TestHome(in: inMemory ? "/dev/shm" : "/var/tmp")
        let volume = home.volume
        let documents = try volume.node("Documents")
        let count = 200_000
        let names = (0..<count).map { number in
            let digits = String(number)
            return "a-name-that-is-as-long-as-many-" + String(repeating: "0", count: 9 - digits.count) + digits
        }
        for name in names {
            unsafe close(open("\(home.directory)/data/Documents/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        }
        var known: [NodeID] = []
        known.reserveCapacity(count)

        let before = allocations_bytes()
        for name in names { known.append(try volume.lookup(FileName(name)!, in: documents).node) }
        let each = Double(allocations_bytes() - before) / Double(count)
        #expect(volume.knownNodes == count + 2)
        #expect(each <= 300, "bytes for each known file")

        for node in known { volume.forget(node, count: 1) }
        #expect(volume.knownNodes == 2)
        let left = Double(allocations_bytes() - before) / Double(count)
        #expect(left <= 60, "bytes left of each forgotten file: the tables keep their memory")
    }
}
