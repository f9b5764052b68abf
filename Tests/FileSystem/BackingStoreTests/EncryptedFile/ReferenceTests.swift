import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

/// What the file must hold: an array of bytes.
struct ContentModel {
    var bytes: [UInt8] = []

    enum Change: CustomStringConvertible {
        case write(at: Int, [UInt8])
        case truncate(Int)
        case zero(at: Int, count: Int, releasing: Bool)
        case allocate(at: Int, count: Int, extending: Bool)

        var description: String {
            switch self {
            case .write(let offset, let bytes): "write \(bytes.count) at \(offset)"
            case .truncate(let length): "truncate to \(length)"
            case .zero(let offset, let count, let releasing): "zero \(count) at \(offset) releasing \(releasing)"
            case .allocate(let offset, let count, let extending): "allocate \(count) at \(offset) \(extending)"
            }
        }
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .write(let offset, let new):
            grow(to: offset + new.count)
            bytes.overwrite(from: offset, with: new)
        case .truncate(let length):
            if length < bytes.count { bytes.removeSubrange(length...) }
            grow(to: length)
        case .zero(let offset, let count, _):
            bytes.clear(min(offset, bytes.count)..<min(offset + count, bytes.count))
        case .allocate(let offset, let count, let extending):
            if extending { grow(to: offset + count) }
        }
    }

    private mutating func grow(to length: Int) {
        if length > bytes.count { bytes += [UInt8](repeating: 0, count: length - bytes.count) }
    }

    /// A change near a boundary as often as anywhere.
    static func random(_ generator: inout SeededGenerator, largest: Int) -> Change {
        func position() -> Int {
            let edges = [0, 4096, 8192, 262_144, 266_240, 524_288]
            let near = edges.randomElement(using: &generator)! + Int.random(in: -2...2, using: &generator)
            return Bool.random(using: &generator)
                ? Int.random(in: 0..<largest, using: &generator) : min(max(near, 0), largest)
        }
        let size = [1, 64, 4096, 5000, 70_000, 300_000].randomElement(using: &generator)!
        let count = Int.random(in: 1...size, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return .truncate(position())
        case 1: return .zero(at: position(), count: count, releasing: true)
        case 2: return .zero(at: position(), count: count, releasing: false)
        case 3: return .allocate(at: position(), count: count, extending: Bool.random(using: &generator))
        default: return .write(at: position(), generator.bytes(count))
        }
    }
}

extension EncryptedFile {
    func apply(_ change: ContentModel.Change) throws(Fault) {
        switch change {
        case .write(let offset, let bytes): try unsafe write(bytes.span.bytes, at: Int64(offset))
        case .truncate(let length): try truncate(to: Int64(length))
        case .zero(let offset, let count, let releasing):
            try zero(Int64(offset), count: Int64(count), releasing: releasing)
        case .allocate(let offset, let count, let extending):
            try allocate(Int64(offset), count: Int64(count), extending: extending)
        }
    }
}

@Suite("Content against a model", .serialized)
struct ReferenceTests {
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
