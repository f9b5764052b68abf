// Archives over the limits, and damaged archives.

import BundleArchive
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct ArchiveLimitsTests {
    private func limits(_ change: (inout AppArchive.Limits) -> Void) -> AppArchive.Limits {
        var limits = AppArchive.Limits()
        change(&limits)
        return limits
    }

    private let zeros = ZipEntry.file("Payload/Notes.app/zeros").with {
        $0.method = 8
        $0.content = [UInt8](repeating: 0, count: 1 + 258 * 4000)
        $0.packed = Zip.zeros(copies: 4000)
    }

    @Test func `a highly compressed entry is unpacked within the limits`() throws {
        let scratch = try UnpackingScratch()
        #expect(try scratch.unpack(Zip.archive(app(zeros))) == "Notes.app")
        #expect(try Data(contentsOf: URL(filePath: scratch["Notes.app/zeros"])) == Data(zeros.content))
    }

    @Test func `more bytes than the limit are refused by what the archive says`() throws {
        let archive = Zip.archive(app(zeros))
        #expect(
            try refusal(of: archive, limits: limits { $0.bytes = 1_000_000 }) == "unpacks to more than 1000000 bytes")
        let ratio = limits {
            $0.ratio = 100
            $0.bytesOfAnyRatio = 1_000_000
        }
        #expect(try refusal(of: archive, limits: ratio) == "unpacks to more than 100 times its own size")
        #expect(try refusal(of: archive, limits: limits { $0.ratio = 100 }) == nil)
        let skipped = zeros.with { $0.name = Array("Symbols/zeros".utf8) }
        #expect(
            try refusal(of: Zip.archive(app(skipped)), limits: ratio) == "unpacks to more than 100 times its own size")
    }

    @Test func `sizes that overflow are refused`() throws {
        let huge = (0..<3).map { index in
            ZipEntry.file("Payload/Notes.app/\(index)").with {
                $0.method = 8
                $0.extra = Zip.little(UInt16(1)) + Zip.little(UInt16(8)) + Zip.little(UInt64(Int64.max))
                $0.size = .max
            }
        }
        #expect(try refusal(of: Zip.archive(app() + huge)) == "unpacks to more than 68719476736 bytes")
    }

    @Test func `no more is written than was said, however much there is`() throws {
        let scratch = try UnpackingScratch()
        let lying = zeros.with { $0.size = 1000 }
        #expect(throws: ArchiveFault.refused("Payload/Notes.app/zeros is damaged")) {
            try scratch.unpack(Zip.archive(app(lying)))
        }
        let size = try FileManager.default.attributesOfItem(atPath: scratch["Notes.app/zeros"])[.size] as? Int
        #expect(size == 0)
    }

    @Test func `more entries than the limit are refused, counted or implied`() throws {
        let files = (0..<10).map { ZipEntry.file("Payload/Notes.app/\($0)") }
        let few = limits { $0.entries = 12 }
        #expect(try refusal(of: Zip.archive(app() + files), limits: few) == "has more than 12 entries")
        #expect(try refusal(of: Zip.archive(app() + files), limits: limits { $0.entries = 13 }) == nil)
        let deep = ZipEntry.file("Payload/Notes.app/a/b/c/d/e/f/g/h/i/j")
        #expect(try refusal(of: Zip.archive(app(deep)), limits: few) == "has more than 12 entries")
        #expect(
            try refusal(of: Zip.archive(app() + files), limits: limits { $0.table = 100 })
                == "has a table of contents that is too large")
        let links = (0..<3).map { ZipEntry.link("Payload/Notes.app/l\($0)", "Info.plist") }
        #expect(
            try refusal(of: Zip.archive(app() + links), limits: limits { $0.links = 2 })
                == "has more than 2 symbolic links")
    }

    @Test func `an archive that ends early is refused wherever it ends`() throws {
        let archive = Zip.archive(app(.file("Payload/Notes.app/text", String(repeating: "text ", count: 500))))
        for end in stride(from: 0, to: archive.count, by: 64) {
            #expect(try refusal(of: Array(archive[..<end])) == "is not a zip archive, or its end is missing", "\(end)")
        }
        for end in archive.count - 22..<archive.count {
            #expect(try refusal(of: Array(archive[..<end])) == "is not a zip archive, or its end is missing", "\(end)")
        }
    }

    @Test func `a byte that changes anywhere in a file's content is found`() throws {
        let text = String(repeating: "text ", count: 50)
        for method in [0, 8] as [UInt16] {
            let archive = Zip.archive(app(.file("Payload/Notes.app/text", text).with { $0.method = method }))
            let content = try #require(Data(archive).range(of: Data(text.utf8)))
            for position in stride(from: content.lowerBound, to: content.upperBound, by: 7) {
                var changed = archive
                changed[position] ^= 0x10
                #expect(try refusal(of: changed) == "Payload/Notes.app/text is damaged", "\(position)")
            }
        }
    }
}
