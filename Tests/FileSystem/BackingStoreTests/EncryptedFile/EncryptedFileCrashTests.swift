// Kills and failed writes: each block is old or new, and the file can be used on.

import CHostFaults
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("A process that ends in the middle of a write", .serialized)
struct EncryptedFileCrashTests {
    /// Every block is as it was before the change that was under way, or as it was to be.
    private func holds(_ bytes: [UInt8], before: [UInt8], after: [UInt8]) -> String? {
        let shortest = min(before.count, after.count)
        let longest = max(before.count, after.count)
        guard (shortest...longest).contains(bytes.count) else {
            return "length \(bytes.count), was \(before.count), to be \(after.count)"
        }
        for start in stride(from: 0, to: bytes.count, by: 4096) {
            let block = start..<min(start + 4096, bytes.count)
            if !bytes.agrees(with: before, in: block), !bytes.agrees(with: after, in: block) {
                return "block \(start / 4096)"
            }
        }
        return nil
    }

    @Test("leaves each block old or new, whichever page was the last", arguments: 1...30 as ClosedRange<UInt64>)
    func killed(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        var file = try stored.create()
        var model = ContentModel()
        for round in 0..<25 {
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let change = ContentModel.random(&generator, largest: 700_000)
                try file.apply(change)
                model.apply(change)
                if Bool.random(using: &generator) { try file.commit() }
            }
            let change = ContentModel.random(&generator, largest: 700_000)
            var after = model
            after.apply(change)
            faults_arm(faults_crash, Int.random(in: 1...8, using: &generator), 0)
            try? file.apply(change)
            try? file.commit()
            faults_disarm()

            stored.kill()
            file = try stored.open()
            let bytes = try file.readAll()
            let fault = holds(bytes, before: model.bytes, after: after.bytes)
            try #require(fault == nil, "seed \(seed), round \(round), \(change): \(fault ?? "")")
            model.bytes = bytes
        }
    }

    @Test("A failed write leaves what was there, and the file goes on", arguments: 1...16 as ClosedRange<UInt64>)
    func failed(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stored = try StoredFile()
        var file = try stored.create()
        var model = ContentModel()
        for round in 0..<40 {
            let change = ContentModel.random(&generator, largest: 700_000)
            var after = model
            after.apply(change)
            faults_arm(faults_fail, Int.random(in: 1...12, using: &generator), ENOSPC)
            do {
                try file.apply(change)
                faults_disarm()
                model = after
            } catch {
                faults_disarm()
                #expect(error == .system(.noSpace), "seed \(seed), round \(round), \(change)")
                let bytes = try file.readAll()
                let fault = holds(bytes, before: model.bytes, after: after.bytes)
                try #require(fault == nil, "seed \(seed), round \(round), \(change): \(fault ?? "")")
                model.bytes = bytes
            }
            if round % 5 == 4 {
                try file.commit()
                if round % 10 == 9 { stored.restart() }
                file = try stored.open()
                let matches = try file.readAll() == model.bytes
                try #require(matches, "seed \(seed), round \(round), after \(change)")
            }
        }
    }

    @Test("A failed write leaves a length that was not written up to", arguments: ["extended", "cut"])
    func failedAfterExtension(how: String) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        try file.write([UInt8](repeating: 7, count: 4096 + 38), at: 0)
        if how == "extended" {
            try file.truncate(to: 7000)
        } else {
            try file.write([1], at: 20_000)
            try file.truncate(to: 7000)
        }
        // The tags arrive, the blocks do not.
        faults_arm(faults_fail, 2, ENOSPC)
        #expect(throws: Fault.system(.noSpace)) { try file.write([UInt8](repeating: 8, count: 30_000), at: 4096) }
        faults_disarm()
        #expect(file.length == 7000)
        let expected = [UInt8](repeating: 7, count: 4096 + 38) + [UInt8](repeating: 0, count: 7000 - 4096 - 38)
        #expect(try file.readAll() == expected)
        try file.commit()
        stored.restart()
        #expect(try stored.open().readAll() == expected)
    }

    @Test("After a write that failed halfway, neither its file nor another may be cut", arguments: [false, true])
    func cutAfterFailedWrite(isOther: Bool) throws {
        let stored = try StoredFile()
        let content = [UInt8](repeating: 7, count: 300_000)
        let file = try stored.create()
        try file.write(content, at: 0)
        try stored.create(.standard, content, named: "other").commit()
        // The tags arrive, the blocks do not.
        faults_arm(faults_fail, 2, ENOSPC)
        #expect(throws: Fault.system(.noSpace)) { try file.write([UInt8](repeating: 8, count: 30_000), at: 4096) }
        faults_disarm()
        try file.commit()
        let cut = isOther ? "\(stored.directory)/other" : stored.path
        for _ in 0..<2 {
            try shell("cp '\(cut)' '\(cut).kept' && truncate -s -4096 '\(cut)'")
            #expect(throws: Fault.corrupt) { try stored.open(named: isOther ? "other" : "file") }
            try shell("cp '\(cut).kept' '\(cut)'")
            // The same in the session that failed, and in the next.
            stored.restart()
        }
        #expect(try stored.open().readAll() == content)
        #expect(try stored.open(named: "other").readAll() == content)
    }
}
