// Round trips: a backup gives the entries that were written.

import BackupModel
import CAllocations
import Foundation
import Glibc
import Platform
import SandboxModel
import TarBackup
import TestSupport
import Testing

@Suite struct RoundTripTests {
    let scratch = Scratch()

    private func expectBack(_ samples: [Sample], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = scratch["\(UUID().uuidString).tar"]
        try write(samples, to: path)
        #expect(try read(path).map(\.text) == samples.map(\.text), sourceLocation: sourceLocation)
    }

    private func inDocuments(_ samples: Sample...) -> [Sample] {
        [.directory(home), .directory("\(home)/Documents")] + samples
    }

    @Test func `entries come back in their order, and with all that is kept of them`() throws {
        try expectBack(plain)
        try expectBack([])
    }

    @Test func `the apps are told`() throws {
        let path = scratch["a.tar"]
        try write(plain, to: path)
        #expect(try TarBackupSource(path: path).apps == [notes])
    }

    @Test(arguments: [
        timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: -1, tv_nsec: 500_000_000),
        timespec(tv_sec: -5, tv_nsec: 0), timespec(tv_sec: -2, tv_nsec: 999_999_999),
        timespec(tv_sec: 1 << 33, tv_nsec: 0), timespec(tv_sec: 1 << 40, tv_nsec: 7),
        timespec(tv_sec: -.max, tv_nsec: 1), timespec(tv_sec: .max, tv_nsec: 999_999_999),
    ])
    func `times come back to the nanosecond`(time: timespec) throws {
        try expectBack(inDocuments(.file("\(home)/Documents/f", "x").with { $0.entry.modificationTime = time }))
    }

    @Test func `modes and owners come back, large ones too`() throws {
        try expectBack(
            inDocuments(
                .file("\(home)/Documents/a", "x").with { $0.entry.permissions = 0o7777 },
                .file("\(home)/Documents/b", "x").with { $0.entry.permissions = 0 },
                .file("\(home)/Documents/c", "x").with { ($0.entry.owner, $0.entry.group) = (.max, 1 << 21) }))
    }

    @Test func `fifos and sockets come back as what they were`() throws {
        try expectBack(
            inDocuments(.make("\(home)/Documents/fifo", .fifo), .make("\(home)/Documents/socket", .socket)))
    }

    @Test func `further names of whatever can have them come back`() throws {
        let first: [Sample] = [
            .make("\(home)/a", .fifo), .file("\(home)/b", ""), .make("\(home)/c", .socket),
            .make("\(home)/d", .symbolicLink(Array("a".utf8))),
            .make("\(home)/e", .file(.sealed(length: 1, keybag: [1])), data: [1]),
        ]
        let further = first.map { Sample.make($0.path + "2", .hardLink($0.entry.path)) }
        try expectBack(
            [.directory(home)] + (first + further).sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) })
        let refusal = complaint {
            try write([.directory(home), .make("\(home)/a", .hardLink(["b"])), first[1]], to: scratch["b.tar"])
        }
        #expect(refusal?.message.hasSuffix("\(home)/a: the file that it is a further name of comes later") == true)
    }

    @Test func `names of any bytes come back`() throws {
        let names: [[UInt8]] = [
            [1], Array("\n".utf8), Array("\\n".utf8), Array("a b".utf8), [UInt8](repeating: 0x61, count: 255),
            [0x62, 0xFF, 0xFE], Array("Größe".utf8), Array("Gro\u{308}ße".utf8), Array("\u{212A}\u{1F600}".utf8),
            [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [UInt8](repeating: 0xE9, count: 255),
        ]
        let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
        let files = sorted.map { name in
            Sample.make(Array("\(home)/Documents/".utf8) + name, .file(.plain(length: 1, data: [0..<1])), data: [1])
        }
        let links = sorted.map { name in
            Sample.make(
                "\(home)/Library/\(name.count)-\(name[0])", .symbolicLink([UInt8](repeating: 0x2F, count: 3800) + name))
        }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        let hard = sorted.enumerated().map { index, name in
            Sample.make("\(home)/Library/z\(10 + index)", .hardLink(["Documents", FileName(name)!]))
        }
        try expectBack(
            [.directory(home), .directory("\(home)/Documents")] + files + [.directory("\(home)/Library")] + links + hard
        )
    }

    @Test func `a tree deeper than any path that Linux takes comes back`() throws {
        var path = home
        var samples: [Sample] = [.directory(path)]
        for _ in 0..<100 {
            path += "/" + String(repeating: "d", count: 200)
            samples.append(.directory(path))
        }
        samples.append(.file(path + "/f", "deep"))
        try expectBack(samples)
        for _ in 0..<300 {
            path += "/" + String(repeating: "d", count: 200)
            samples.append(.directory(path))
        }
        samples.remove(at: 101)
        let refusal = complaint { try write(samples, to: scratch["deep.tar"]) }
        #expect(refusal?.kind == .invalidBackup)
        #expect(refusal?.message.hasSuffix("its path has more than 65536 bytes") == true)
    }

    @Test func `attributes of any bytes come back, and large ones`() throws {
        var generator = SeededGenerator(seed: 5)
        let attributes = [
            ("user.%", Array("=\n\u{0}".utf8)), ("user.%3D", []), ("user.=a=", [0, 255]),
            ("user.big", generator.bytes(65536)), ("user.com.apple.TextEncoding", Array("utf-8;134217984".utf8)),
            ("user.\n", [1]), ("user.ä", [2]),
        ].map { BackupEntry.Attribute(name: Array($0.utf8), value: $1) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
        try expectBack(
            [.directory(home).with { $0.entry.attributes = attributes }]
                + [.file("\(home)/f", "x").with { $0.entry.attributes = attributes }])
    }

    @Test func `classes and the mark come back, whatever the directory gives`() throws {
        var samples: [Sample] = [.directory(home)]
        for (index, given) in ([nil] + ProtectionClass.allCases.map { Optional($0) }).enumerated()
        where given != .standard {
            samples.append(.directory("\(home)/\(index)").with { $0.entry.protection = given })
            for own in ProtectionClass.allCases {
                samples.append(
                    .file("\(home)/\(index)/\(own.rawValue)", "x").with {
                        $0.entry.protection = own
                        $0.entry.isExcluded = own == .none
                    })
            }
            samples.append(.directory("\(home)/\(index)/sub"))
            samples.append(.file("\(home)/\(index)/sub/f", "x"))
        }
        try expectBack(samples)
    }

    @Test func `class, mark and attributes of a hard link come with its first name`() throws {
        let file = Sample.file("\(home)/a", "x").with {
            $0.entry.protection = .complete
            $0.entry.isExcluded = true
            $0.entry.attributes = [.init(name: Array("user.x".utf8), value: [1])]
        }
        let link = Sample.make("\(home)/b", .hardLink(["a"]))
        let path = scratch["a.tar"]
        try write([.directory(home), file, link.with { $0.entry.attributes = file.entry.attributes }], to: path)
        #expect(try read(path).map(\.text) == [Sample.directory(home), file, link].map(\.text))
        let refusal = complaint {
            let attributes = file.entry.attributes
            let fifo = Sample.make("\(home)/c", .fifo).with { $0.entry.attributes = attributes }
            try write([.directory(home), fifo], to: scratch["b.tar"])
        }
        #expect(refusal?.message.hasSuffix("\(home)/c: only files and directories have attributes") == true)
    }

    @Test func `another name of the mark is no attribute`() throws {
        let path = scratch["a.tar"]
        let file = Sample.file("\(home)/a", "x")
        let other = file.with { $0.entry.attributes = [.init(name: Array("user.xdg.robots.backup".utf8), value: [1])] }
        try write([.directory(home), other], to: path)
        #expect(try read(path).map(\.text) == [Sample.directory(home), file].map(\.text))
    }

    @Test func `sealed files come back as they were, with the keybag that they need`() throws {
        var generator = SeededGenerator(seed: 1)
        let bytes = generator.bytes(8193)
        try expectBack(
            inDocuments(
                .make(
                    "\(home)/Documents/locked", .file(.sealed(length: 8193, keybag: generator.bytes(16))), data: bytes
                )
                .with { $0.entry.protection = .complete },
                .make("\(home)/Documents/locked2", .file(.sealed(length: 0, keybag: generator.bytes(16))))))
    }

    @Test func `holes come back as holes`() throws {
        var generator = SeededGenerator(seed: 2)
        let bytes = generator.bytes(12_288)
        try expectBack(
            inDocuments(
                .sparse("\(home)/Documents/a", length: 1 << 20, [], []),
                .sparse("\(home)/Documents/b", length: 1 << 20, [4096..<8192, 65536..<73728], bytes),
                .sparse("\(home)/Documents/c", length: 12_289, [1..<12_289], bytes),
                .sparse("\(home)/Documents/d", length: 12_289, [0..<12_288], bytes)))
        var pieces: [Range<Int64>] = []
        for index in 0..<3000 { pieces.append(Int64(index) * 8192..<Int64(index) * 8192 + 3) }
        try expectBack(
            inDocuments(.sparse("\(home)/Documents/many", length: 1 << 25, pieces, generator.bytes(9000))))
    }

    @Test func `a hole is passed over in steps, in each of which a backup can be given up`() throws {
        let file = Sample.sparse("\(home)/a", length: 1 << 30, [0..<1, 900 << 20..<900 << 20 + 1], [1, 2])
        let samples = [Sample.directory(home), file]
        try write(samples, to: scratch["whole.tar"])
        let path = scratch["steps.tar"]
        let sink = try TarBackupSink(path: path, apps: [notes])
        for sample in samples { try sink.begin(sample.entry) }
        try [UInt8(1)].withSpan { bytes throws(Complaint) in try sink.write(bytes, at: 0) }
        for step in 1...9 { try sink.write(RawSpan(), at: Int64(step) * 100 << 20) }
        try [UInt8(2)].withSpan { bytes throws(Complaint) in try sink.write(bytes, at: 900 << 20) }
        try sink.write(RawSpan(), at: 1000 << 20)
        try sink.finish()
        #expect(try bytes(of: path) == bytes(of: scratch["whole.tar"]))
        let source = try TarBackupSource(path: path)
        _ = try source.next()
        _ = try source.next()
        var pieces = 0
        try source.read { _, _ throws(Complaint) in pieces += 1 }
        #expect(pieces > 10)
    }

    @Test func `large content comes back`() throws {
        var generator = SeededGenerator(seed: 4)
        try expectBack(
            inDocuments(.file("\(home)/Documents/a", generator.bytes(5_000_001)), .file("\(home)/Documents/b", "b")))
    }

    @Test func `only the domains that are wanted are read`() throws {
        let path = scratch["a.tar"]
        try write(plain, to: path)
        let group = try read(path) { $0 == BackupDomain(name: shared) }
        #expect(group.map(\.text) == plain.suffix(2).map(\.text))
        #expect(try read(path) { _ in false }.isEmpty)
    }

    @Test(arguments: ["gzip", "xz", "zstd --rm"]) func `a backup that somebody compressed is read`(tool: String) throws
    {
        let path = scratch["a.tar"]
        try write(plain, to: path)
        try shell("\(tool) -q '\(path)' && mv '\(path)'.* '\(path)'")
        #expect(try read(path, scratch: scratch.path).map(\.text) == plain.map(\.text))
        #expect(scratch.names == ["a.tar"])
        var cut = try bytes(of: path)
        cut.removeLast(cut.count / 3)
        try put(cut, at: path)
        #expect(complaint { _ = try read(path) }?.kind == .invalidBackup)
    }

    @Test func `memory does not grow with the manifest`() async {
        let path = scratch["many.tar"]
        // In a process of its own, whose threads all work for this backup.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let before = allocations_of_process()
            var most = before
            func look() { most = max(most, allocations_of_process()) }
            let sink = try TarBackupSink(path: path, apps: [notes])
            var entry = Sample.directory(home).entry
            try sink.begin(entry)
            for _ in 0..<40 {
                entry.path.append(FileName(String(repeating: "d", count: 255))!)
                try sink.begin(entry)
            }
            entry.kind = .fifo
            for index in 0..<1000 {
                var next = entry
                next.path.append(FileName(String(1000 + index))!)
                try sink.begin(next)
                look()
            }
            try sink.finish()
            let source = try TarBackupSource(path: path)
            var count = 0
            while try source.next() != nil {
                count += 1
                look()
            }
            try source.verifyEnd()
            #expect(count == 1041)
            // Lines of 10 kB: the manifest has more than 10 MB. The sink keeps four buffers of 1 MiB; while it writes,
            // the entries in them wait for the hashing thread.
            #expect(allocations_of_process() - before < 6 << 20)
            #expect(most - before < 16 << 20)
        }
    }
}
