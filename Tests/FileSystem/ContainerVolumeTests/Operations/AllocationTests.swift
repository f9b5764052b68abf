// The hot paths allocate nothing in the steady state.

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
