// Archives with random changes: each is unpacked or refused, and nothing outside the target changes.

import BundleArchive
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct ArchiveMutationTests {
    /// Small archives that together have every kind of entry and header.
    static let originals: [[UInt8]] = [
        Zip.archive(
            app(
                .file("Payload/Notes.app/Notes", "program", mode: 0o100755), .link("Payload/Notes.app/l", "Notes"),
                .file("Payload/Notes.app/a/b/c", "deep").with { $0.method = 8 }, .file("iTunesMetadata.plist"))),
        Zip.archive(
            app(
                .file("Payload/Notes.app/Ü", "name").with { $0.flags = 1 << 11 },
                .link("Payload/Notes.app/l", "../Notes.app/Ü").with { $0.method = 8 },
                .file("Payload/Notes.app/s", "streamed").with {
                    $0.method = 8
                    $0.isStreamed = true
                })),
        Zip.archive(
            app(
                .file("Payload/Notes.app/zeros").with {
                    $0.method = 8
                    $0.content = [UInt8](repeating: 0, count: 1 + 258 * 20)
                    $0.packed = Zip.zeros(copies: 20)
                }, .directory("Payload/Notes.app/d", mode: 0o040500)), is64: true),
    ]

    static func mutated(_ original: [UInt8], _ chance: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &chance) {
            let place = Int.random(in: 0..<bytes.count, using: &chance)
            switch Int.random(in: 0..<8, using: &chance) {
            case 0...3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 4: bytes[place] = [0, 0xFF, 0x2F, 0x2E, 0x7F].randomElement(using: &chance) ?? 0
            case 5:
                // A part of it in another place, over other bytes or between them.
                let length = Int.random(in: 1...min(60, bytes.count), using: &chance)
                let from = Int.random(in: 0...bytes.count - length, using: &chance)
                let end = Bool.random(using: &chance) ? min(place + length, bytes.count) : place
                bytes.replaceSubrange(place..<end, with: Array(bytes[from..<from + length]))
            case 6:
                let length = Int.random(in: 1...40, using: &chance)
                bytes.removeSubrange(place..<min(place + length, bytes.count - 1))
            default:
                if Int.random(in: 0..<8, using: &chance) == 0 { bytes.removeSubrange(max(place, 1)...) }
            }
        }
        return bytes
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `a changed archive is unpacked or refused, and touches nothing else`(_ seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed + 1)
        let scratch = try UnpackingScratch()
        var unpacked = 0
        let count = rounds(120, full: 400)
        for round in 0..<count {
            let bytes = ArchiveMutationTests.mutated(ArchiveMutationTests.originals[round % 3], &chance)
            let reason: String?
            do {
                reason = try scratch.unpack(bytes) == nil ? "cancelled" : nil
                unpacked += 1
            } catch ArchiveFault.refused(let text) {
                reason = text
            }
            #expect(reason?.contains { $0.isNewline } != true && reason != "cancelled", "seed \(seed), \(round)")
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.target)
            #expect(names.count <= 1 && scratch.isUntouchedOutside, "seed \(seed), \(round)")
            if !names.isEmpty { try scratch.clear() }
        }
        // Some changes have to be harmless, or the test would only reach the first check.
        #expect(unpacked > 0 && unpacked < count)
    }
}
