// Headers of tar entries, also of contents too large for a test to write.

import BackupModel
import Glibc
import Platform
import SandboxModel
import TarFormat
import TestSupport
import Testing

@testable import TarBackup

@Suite struct TarEntryTests {
    let scratch = Scratch()

    /// Writes the header of an entry, and reads it back.
    private func reading(_ sample: Sample) throws -> Sample {
        let open = { (name: String) in
            SharedDescriptor(try Descriptor.open(path: scratch[name], flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600))
        }
        let file = try open("a.tar")
        let output = try HashedOutput(file, spill: try open("spill"))
        let writer = try TarWriter(output)
        let entry = try TarEntry(sample.entry, at: Array(sample.path.utf8), inheriting: .standard)
        try writer.begin(entry)
        try output.finish()
        let size = try file.descriptor.status().size
        let read = try TarReader(FileInput(file, size: size, name: "a.tar"), from: .backup("a.tar")).next()
        #expect(read?.encoded == entry.encoded)
        return Sample(entry: try #require(try read?.backupEntry()))
    }

    @Test(arguments: [1 << 33 - 1, 1 << 33, 4 << 40]) func `sizes come back, beyond 8 GiB too`(length: Int64) throws {
        let whole = Sample.make("\(home)/f", .file(.plain(length: length, data: [0..<length])))
        #expect(try reading(whole).text == whole.text)
        let holes = Sample.make("\(home)/f", .file(.plain(length: length, data: [1..<2, 4096..<length])))
        #expect(try reading(holes).text == holes.text)
        let sealed = Sample.make("\(home)/f", .file(.sealed(length: length, keybag: [1, 2])))
        #expect(try reading(sealed).text == sealed.text)
    }

    @Test func `a size that no device has is refused`() {
        let length = TarEntry.longestContent + 1
        let file = Sample.make("\(home)/f", .file(.plain(length: length, data: [])))
        #expect(throws: ArchiveFlaw("cannot hold \(home)/f: a file has at most 4398046511104 bytes")) {
            try TarEntry(file.entry, at: Array(file.path.utf8), inheriting: .standard)
        }
    }

    @Test func `more attributes than libarchive reads are refused before anything is written`() throws {
        func file(_ count: Int) -> Sample {
            Sample.file("\(home)/f", "").with {
                $0.entry.attributes = (0..<count).map { index in
                    .init(name: Array("user.\(10 + index)".utf8), value: [UInt8](repeating: 7, count: 65_536))
                }
            }
        }
        #expect(try reading(file(10)).text == file(10).text)
        #expect(throws: ArchiveFlaw("cannot hold \(home)/f: its attributes take more than 800000 bytes")) {
            try TarEntry(file(13).entry, at: Array("\(home)/f".utf8), inheriting: .standard)
        }
    }

    @Test func `as many holes come back as are taken, and no more are`() throws {
        func file(_ count: Int64) -> Sample {
            // Numbers with the most digits.
            let start: Int64 = 2 << 40
            let data = (0..<count).map { (index: Int64) -> Range<Int64> in
                let place = start + 8192 * index
                return place..<(place + 4096)
            }
            return Sample.make("\(home)/f", .file(.plain(length: 4 << 40, data: data)))
        }
        let most = Int64(TarEntry.mostPieces)
        #expect(try reading(file(most)).entry.kind == file(most).entry.kind)
        #expect(throws: ArchiveFlaw("cannot hold \(home)/f: it has more than 2000000 holes")) {
            try TarEntry(file(most + 1).entry, at: Array("\(home)/f".utf8), inheriting: .standard)
        }
    }

    @Test func `two entries have the same encoding only if they are the same`() throws {
        let path = Array("\(home)/f".utf8)
        let file = Sample.file("\(home)/f", "abc")
        let others: [Sample] = [
            file, .sparse("\(home)/f", length: 3, [0..<2], [1, 2]), .make("\(home)/f", .symbolicLink([1])),
            .make("\(home)/f", .fifo), .directory("\(home)/f"), .make("\(home)/f", .hardLink(["a"])),
            .make("\(home)/f", .file(.sealed(length: 3, keybag: [1]))), .make("\(home)/f", .socket),
            file.with { $0.entry.permissions = 0o600 }, file.with { $0.entry.owner = 1 },
            file.with { $0.entry.group = 1 }, file.with { $0.entry.modificationTime.tv_nsec = 1 },
            file.with { $0.entry.protection = .complete }, file.with { $0.entry.isExcluded = true },
            file.with { $0.entry.attributes = [.init(name: Array("user.x".utf8), value: [])] },
            file.with { $0.entry.attributes = [.init(name: Array("user.x".utf8), value: [0])] },
        ]
        let encoded = try others.map { try TarEntry($0.entry, at: path, inheriting: .standard).encoded }
        #expect(Set(encoded).count == others.count)
    }
}
