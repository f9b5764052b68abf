import CHostFaults
import Glibc
import Platform
import SandboxModel
import Testing

@testable import BackingStore

@Suite("A host that loses power", .serialized)
struct PowerCutTests {
    /// What may be on the disk: of each page, and of the length, what was synchronized last or what was written since.
    private func leftover(_ durable: [UInt8], _ written: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let length = Bool.random(using: &generator) ? durable.count : written.count
        var bytes = [UInt8](repeating: 0, count: length)
        for start in stride(from: 0, to: length, by: 4096) {
            let source = Bool.random(using: &generator) ? durable : written
            let page = source.dropFirst(start).prefix(min(4096, length - start))
            bytes.replaceSubrange(start..<start + page.count, with: page)
        }
        return bytes
    }

    @Test(
        "keeps a file whole that was synchronized, in whatever state closing it was",
        arguments: 1...40 as ClosedRange<UInt64>)
    func synchronized(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        let mirrorPath = stored.path + ".durable"
        let mirror = try Descriptor.open(path: mirrorPath, flags: O_RDWR | O_CREAT, mode: 0o600)
        faults_mirror(mirror.number)
        defer { faults_mirror(-1) }
        var file = try stored.create()
        var model = ContentModel()
        for round in 0..<8 {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let change = ContentModel.random(&generator, largest: 1_500_000)
                try file.apply(change)
                model.apply(change)
            }
            try file.synchronize(dataOnly: Bool.random(using: &generator))
            try file.commit()
            let written = stored.bytes
            let durable = try bytes(of: mirror)
            stored.bytes = leftover(durable, written, &generator)
            stored.losePower()
            file = try stored.open()
            let isWhole = try file.readAll() == model.bytes
            try #require(isWhole, "seed \(seed), round \(round)")
        }
    }

    private func bytes(of file: borrowing Descriptor) throws -> [UInt8] {
        let length = Int(try file.status().size)
        let buffer = PageBuffer(count: length)
        _ = try file.read(into: buffer, count: length, from: 0)
        return buffer.bytes(0, count: length)
    }
}
