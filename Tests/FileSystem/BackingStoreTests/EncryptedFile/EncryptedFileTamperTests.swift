// Backing files that were changed from outside: EIO, never other bytes.

import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("A backing file that was changed", .serialized)
struct EncryptedFileTamperTests {
    /// Reads every block by itself; each gives its bytes or EIO.
    private func check(_ stored: StoredFile, _ expected: [UInt8], _ what: String) throws {
        let file: EncryptedFile
        do {
            file = try stored.open()
        } catch {
            #expect(error as? Fault == .corrupt, "\(what)")
            return
        }
        var refused = false
        for start in stride(from: 0, to: expected.count, by: 4096) {
            let count = min(4096, expected.count - start)
            do {
                let bytes = try file.readAll(from: Int64(start), count: count)
                #expect(bytes == Array(expected[start..<start + count]), "\(what): block \(start / 4096)")
            } catch {
                #expect(error as? Fault == .corrupt, "\(what)")
                refused = true
            }
        }
        #expect(refused, "\(what): nothing was refused")
    }

    private func make(_ length: Int, sparse: Bool = false) throws -> (StoredFile, [UInt8]) {
        var generator = SeededGenerator(seed: UInt64(length))
        let stored = try StoredFile()
        let file = try stored.create()
        var model = ContentModel()
        if sparse {
            for offset in stride(from: 0, to: length, by: 3 * 262_144) {
                let change = ContentModel.Change.write(at: offset, generator.bytes(10_000))
                try file.apply(change)
                model.apply(change)
            }
        } else {
            let change = ContentModel.Change.write(at: 0, generator.bytes(length))
            try file.apply(change)
            model.apply(change)
        }
        try file.commit()
        return (stored, model.bytes)
    }

    @Test("Any byte flipped gives EIO somewhere and never other bytes", arguments: [1, 5000, 300_000])
    func flipped(length: Int) throws {
        let (stored, content) = try make(length)
        let whole = stored.bytes
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<60 {
            let place = Int.random(in: 0..<whole.count, using: &generator)
            // The place of a map page that a file without holes does not have.
            if (266_240..<270_336).contains(place) { continue }
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            stored.bytes = changed
            try check(stored, content, "byte \(place)")
        }
        for place in [0, 4, 8, 20, 30, 54, 55, 56, 70, 100, 161, 255, 256, 300, 4095] {
            var changed = whole
            changed[place] ^= 0x40
            stored.bytes = changed
            try check(stored, content, "byte \(place)")
        }
    }

    @Test("Cut at an edge or to nothing, or grown: EIO", arguments: [0, 1, 4096, 8192, 266_240, 274_432, 300_000])
    func cut(length: Int) throws {
        let (stored, content) = try make(600_000)
        stored.bytes = Array(stored.bytes.prefix(length))
        try check(stored, content, "cut to \(length)")
    }

    @Test("A block, a tag page or a whole group zeroed: EIO", arguments: [false, true])
    func zeroed(sparse: Bool) throws {
        let (stored, content) = try make(sparse ? 5_000_000 : 900_000, sparse: sparse)
        let whole = stored.bytes
        let group = sparse ? 3 : 1
        let tags = Int(ContentLayout.tagPageOffset(group: group))
        for (what, range) in [
            ("block", tags + 4096..<tags + 8192), ("tags", tags..<tags + 4096), ("group", tags..<tags + 65 * 4096),
        ] {
            var changed = whole
            changed.replaceSubrange(range, with: repeatElement(0, count: range.count))
            stored.bytes = changed
            try check(stored, content, "\(what) zeroed")
        }
        if sparse {
            let map = Int(ContentLayout.mapPageOffset(0))
            var changed = whole
            changed.replaceSubrange(map..<map + 4096, with: repeatElement(0, count: 4096))
            stored.bytes = changed
            try check(stored, content, "map zeroed")
        }
    }

    @Test("Blocks swapped within a file, with and without their seals: EIO")
    func swapped() throws {
        let (stored, content) = try make(40_000)
        let whole = stored.bytes
        var changed = whole
        changed.replaceSubrange(4096..<8192, with: whole[8192..<12288])
        changed.replaceSubrange(8192..<12288, with: whole[4096..<8192])
        stored.bytes = changed
        try check(stored, content, "blocks swapped")
        changed.replaceSubrange(256..<316, with: whole[316..<376])
        changed.replaceSubrange(316..<376, with: whole[256..<316])
        stored.bytes = changed
        try check(stored, content, "blocks and slots swapped")
    }

    @Test("A block or a header from another file: EIO")
    func foreign() throws {
        let (stored, content) = try make(40_000)
        let (other, _) = try make(40_000)
        let whole = stored.bytes
        for (what, range) in [("block", 4096..<8192), ("header", 0..<4096)] {
            var changed = whole
            changed.replaceSubrange(range, with: other.bytes[range])
            stored.bytes = changed
            try check(stored, content, "\(what) of another file")
        }
    }

    @Test("A block that does not authenticate is reported once, with its place")
    func reported() throws {
        let (stored, _) = try make(40_000)
        stored.bytes[4096 * 3] ^= 1
        let file = try stored.open()
        for _ in 0..<3 { #expect(throws: Fault.corrupt) { try file.readAll() } }
        let reported = stored.reports.all
        #expect(reported.map(\.place) == [.block(2)])
        #expect(try file.readAll(from: 0, count: 8192).count == 8192)
    }
}
