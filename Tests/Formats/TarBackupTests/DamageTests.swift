// Damaged archives.

import BackupModel
import Foundation
import Glibc
import SandboxModel
import TarBackup
import TestSupport
import Testing

@Suite struct DamageTests {
    let scratch = Scratch()

    private let small: [Sample] = [
        .directory(home),
        .file("\(home)/a", "alpha").with {
            $0.entry.protection = .complete
            $0.entry.attributes = [.init(name: Array("user.x".utf8), value: [1, 2])]
        },
        .make("\(home)/b", .hardLink(["a"])),
        .sparse("\(home)/c", length: 10_000, [4096..<4100], [1, 2, 3, 4]),
    ]

    private func refusal(_ bytes: [UInt8]) throws -> Complaint? {
        try put(bytes, at: scratch["damaged.tar"])
        return complaint { _ = try read(scratch["damaged.tar"]) }
    }

    /// Whether damage is found, or lies outside all entries.
    private func isHarmless(_ bytes: [UInt8]) throws -> Bool {
        try put(bytes, at: scratch["damaged.tar"])
        do throws(Complaint) {
            return try read(scratch["damaged.tar"]).map(\.text) == small.map(\.text)
        } catch {
            // One of the bits raises the version.
            return error.kind == .invalidBackup || error.kind == .newerBackup
        }
    }

    @Test func `a backup that is cut is none, wherever it is cut`() throws {
        try write(small, to: scratch["a.tar"])
        let whole = try bytes(of: scratch["a.tar"])
        #expect(try refusal(whole) == nil)
        var lengths = Array(stride(from: 0, to: whole.count, by: 512))
        lengths += [1, 100, 511, 513, whole.count - 1, whole.count - 513]
        for length in lengths {
            #expect(try refusal(Array(whole.prefix(length)))?.kind == .invalidBackup, "\(length) bytes")
        }
        // Nothing may follow the end.
        #expect(try refusal(whole + [UInt8](repeating: 0, count: 512))?.kind == .invalidBackup)
        #expect(try refusal(whole + whole)?.kind == .invalidBackup)
    }

    @Test func `a bit that is another one is found, wherever it changes anything`() throws {
        try write(small, to: scratch["a.tar"])
        let whole = try bytes(of: scratch["a.tar"])
        for index in stride(from: 0, to: whole.count, by: rounds(23, full: 7)) {
            var bytes = whole
            bytes[index] ^= 1 << (index % 8)
            #expect(try isHarmless(bytes), "byte \(index)")
        }
    }

    @Test func `bytes that are anything are found`() throws {
        try write(small, to: scratch["a.tar"])
        let whole = try bytes(of: scratch["a.tar"])
        for seed in 1...300 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var bytes = whole
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let count = Int.random(in: 1...600, using: &generator)
            bytes.replaceSubrange(
                start..<min(start + count, bytes.count),
                with: generator.bytes(
                    Bool.random(using: &generator) ? count : Int.random(in: 0...600, using: &generator)))
            #expect(try isHarmless(bytes), "seed \(seed)")
        }
    }

    @Test func `nothing more is given after a fault, and it is never found whole`() throws {
        try write(small, to: scratch["a.tar"])
        var bytes = try bytes(of: scratch["a.tar"])
        bytes[bytes.firstRange(of: Array("alpha".utf8))!.lowerBound] ^= 1
        try put(bytes, at: scratch["a.tar"])
        let source = try TarBackupSource(path: scratch["a.tar"])
        _ = try source.next()
        _ = try source.next()
        let fault = complaint { try source.read { _, _ in } }
        #expect(
            fault?.message
                == "\(scratch["a.tar"]) was altered: \(home)/a does not agree with its manifest; use another copy of it"
        )
        #expect(complaint { _ = try source.next() } == fault)
        #expect(complaint { try source.verifyEnd() } == fault)
    }

    @Test func `a file that is no backup of ours is refused in one line`() throws {
        try shell("cd '\(scratch.path)' && echo x > x && tar -cf foreign.tar x && gzip -k foreign.tar")
        let foreign = "is no backup made by appcontainer; name a file that `appcontainer backup` wrote"
        for name in ["foreign.tar", "foreign.tar.gz"] {
            let refusal = complaint { _ = try read(scratch[name]) }
            #expect(refusal == Complaint(.invalidBackup, "\(scratch[name]) \(foreign)"))
        }
        for content in [[], [1], [UInt8](repeating: 0x41, count: 5000), [UInt8](repeating: 0, count: 10_240)] {
            #expect(try refusal(content)?.kind == .invalidBackup)
        }
        try shell("mkfifo '\(scratch["fifo"])'")
        for name in ["fifo", ""] {
            #expect(complaint { _ = try read(scratch[name]) }?.message.hasSuffix(" is no file; name one") == true)
        }
        #expect(complaint { _ = try read(scratch["missing"]) }?.kind == .notFound)
    }
}
