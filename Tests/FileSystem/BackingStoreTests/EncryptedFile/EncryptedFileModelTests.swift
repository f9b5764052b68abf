// Random changes of an encrypted file, compared with a model of its content.

import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("Content against a model", .serialized)
struct EncryptedFileModelTests {
    @Test("Random changes, closings and openings read back as the model says", arguments: 1...24 as ClosedRange<UInt64>)
    func randomChanges(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        var file = try stored.create()
        var model = ContentModel()
        for step in 0..<60 {
            let change = ContentModel.random(&generator, largest: 900_000)
            try file.apply(change)
            model.apply(change)
            #expect(file.length == Int64(model.bytes.count), "seed \(seed), step \(step): \(change)")
            if step % 7 == 0 {
                try file.commit()
                file = try stored.open()
            }
            if step % 3 == 0 {
                let matches = try file.readAll() == model.bytes
                try #require(matches, "seed \(seed), step \(step): \(change)")
            }
        }
        try file.commit()
        let matches = try stored.open().readAll() == model.bytes
        #expect(matches, "seed \(seed)")
        #expect(stored.reports.all.isEmpty)
    }

    @Test("A write far behind the end makes holes that read as zeros and stay holes")
    func sparse() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.write([1, 2, 3], at: 0)
        try file.write([4, 5, 6], at: 5 << 30)
        try file.commit()
        let again = try stored.open()
        #expect(again.length == 5 << 30 + 3)
        #expect(try again.readAll(from: 0, count: 8192) == [1, 2, 3] + [UInt8](repeating: 0, count: 8189))
        #expect(try again.readAll(from: 5 << 30 - 10, count: 20) == [UInt8](repeating: 0, count: 10) + [4, 5, 6])
        #expect(try again.seek(from: 0, toHole: true) == 4096)
        #expect(try again.seek(from: 4096, toHole: false) == 5 << 30)
        #expect(try again.seek(from: 5 << 30, toHole: true) == 5 << 30 + 3)
        #expect(try again.seek(from: 5 << 30 + 3, toHole: false) == nil)
        #expect(try again.backing.descriptor.status().blocks < 100)
    }

    @Test("No plaintext is in the backing file")
    func noPlaintext() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        let secret = [UInt8]("a secret of thirty-two bytes 1234".utf8)
        try file.write(Array(repeatElement(secret, count: 500).joined()), at: 0)
        try file.commit()
        let bytes = stored.bytes
        let found = bytes.indices.dropLast(16).contains { bytes[$0..<$0 + 16].elementsEqual(secret[0..<16]) }
        #expect(!found)
    }
}
