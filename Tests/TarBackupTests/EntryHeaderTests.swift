// What stands before content that no test has the time to write.

import BackupModel
import SandboxModel
import TestSupport
import Testing

@testable import TarBackup

@Suite struct EntryHeaderTests {
    /// The entry that is read from what it is written as.
    private func reading(_ sample: Sample) throws -> Sample {
        let path = Array(sample.path.utf8)
        let written = try EntryHeader(sample.entry, at: path, given: .standard)
        let blocks = stride(from: 0, to: written.bytes.count, by: 512).map { Array(written.bytes[$0..<($0 + 512)]) }
        let extended = try TarHeader(blocks[0])
        let after = 1 + Int(TarHeader.padded(extended.size)) / 512
        let reading = try EntryReading(
            try TarHeader(blocks[after]), records: Array(blocks[1..<after].joined().prefix(Int(extended.size))))
        var map: SparseMap?
        if let length = reading.sparseLength {
            var numbers = SparseMap.Numbers()
            for block in blocks[(after + 1)...] { try numbers.append(block) }
            map = try SparseMap(length: length, numbers: numbers)
        }
        #expect(reading.size == written.contentLength + Int64(blocks.count - after - 1) * 512)
        return Sample(entry: try reading.entry(map: map))
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
        let length = EntryHeader.longestContent + 1
        let file = Sample.make("\(home)/f", .file(.plain(length: length, data: [])))
        #expect(throws: BackupFlaw("cannot hold \(home)/f: a file has at most 4398046511104 bytes")) {
            try EntryHeader(file.entry, at: Array(file.path.utf8), given: .standard)
        }
    }
}
