// Writes of whole blocks that are sealed before the lock is held, and written together.

import CHostFaults
import DataProtection
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import BackingStore

@Suite("Whole blocks that are overwritten", .serialized)
struct SealedWriteTests {
    private static let block = 4096

    /// A file of so many blocks of zeros, which can be overwritten.
    private func file(blocks: Int, in stored: StoredFile) throws -> EncryptedFile {
        let file = try stored.create()
        try file.write([UInt8](repeating: 0, count: blocks * Self.block), at: 0)
        try file.commit()
        return file
    }

    private func bytes(_ value: UInt8, blocks: Int = 1) -> [UInt8] {
        [UInt8](repeating: value, count: blocks * Self.block)
    }

    private static var call: SealedRun.Write { SealedRun.Write() }
    private static var writeback: SealedRun.Write { SealedRun.Write(purpose: .writtenBack) }
    /// Of the kernel's cache.
    private static var pages: SealedRun.Write { SealedRun.Write(purpose: .writtenBack, isFromCache: true) }

    /// Seals a write and has it wait for the next holder of the lock, unless it is acknowledged.
    private func queue(
        _ value: UInt8, at block: Int64, blocks: Int = 1, _ write: SealedRun.Write = call,
        to file: EncryptedFile, _ workspace: Workspace
    ) throws -> SealedRun {
        let bytes = bytes(value, blocks: blocks)
        let run = try #require(
            unsafe file.sealRun(bytes.span.bytes, at: block * Int64(Self.block), write, workspace))
        _ = file.sealedRuns.add(run)
        return run
    }

    private func isAcknowledged(
        _ value: UInt8, at block: Int64, _ write: SealedRun.Write, to file: EncryptedFile, _ workspace: Workspace
    ) throws -> Bool {
        try queue(value, at: block, write, to: file, workspace).write.isAcknowledged
    }

    /// Holds the lock of a file as one that writes for others, has them leave what they write, and writes that.
    /// - Returns: whether nothing acknowledged was lost.
    private func hold(_ file: EncryptedFile, _ others: (Workspace) throws -> Void) throws -> Bool {
        try file.lock.writing {
            let workspace = file.context.workspaces.take()
            defer { file.context.workspaces.give(workspace) }
            file.sealedRuns.acknowledge(file.sealedTerms)
            try others(workspace)
            return file.writeSealedRuns(acknowledging: true, workspace)
        }
    }

    private func outcome(of run: SealedRun) -> String {
        switch run.write.outcome {
        case .refused: "refused"
        case .written: "written"
        case .failed(let fault): "\(fault)"
        }
    }

    private func value(of block: Int, in content: [UInt8]) -> UInt8? {
        let bytes = content[block * Self.block..<(block + 1) * Self.block]
        return bytes.allSatisfy { $0 == bytes.first } ? bytes.first : nil
    }

    @Test("are written with the tag page once for those that wait in a group")
    func written() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 200, in: stored)
        let workspaces = (0..<3).map { _ in stored.context.workspaces.take() }
        let runs = [
            try queue(1, at: 70, to: file, workspaces[0]), try queue(2, at: 75, blocks: 16, to: file, workspaces[1]),
            try queue(3, at: 140, to: file, workspaces[2]),
        ]
        faults_arm(faults_fail, .max, 0)
        try file.write(bytes(4), at: Int64(141 * Self.block))
        // Each page of a pwrite(2) counts: two tag pages, and 1 + 16 + 1 + 1 blocks.
        #expect(faults_count() == 2 + 19)
        faults_disarm()
        for run in runs {
            let isDone = run.isDone.load(ordering: .acquiring)
            #expect(isDone && outcome(of: run) == "written")
        }
        try file.commit()
        stored.restart()
        let content = try stored.open().readAll()
        let found = [70, 75, 90, 91, 140, 141].map { value(of: $0, in: content) }
        #expect(found == [1, 2, 2, 0, 3, 4])
    }

    @Test("of one block stay in the order of their calls")
    func sameBlock() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 10, in: stored)
        let workspaces = (0..<3).map { _ in stored.context.workspaces.take() }
        for (index, workspace) in workspaces.enumerated() {
            _ = try queue(UInt8(index + 1), at: 5, to: file, workspace)
        }
        try file.write(bytes(9), at: Int64(6 * Self.block))
        #expect(value(of: 5, in: try file.readAll()) == 3)
    }

    @Test("Each is old or new after a kill at any of their pages, also where one block is written three times")
    func killed() throws {
        for countdown in 1...14 {
            let stored = try StoredFile()
            let file = try file(blocks: 200, in: stored)
            let workspaces = (0..<4).map { _ in stored.context.workspaces.take() }
            _ = try queue(1, at: 70, to: file, workspaces[0])
            _ = try queue(2, at: 71, blocks: 3, to: file, workspaces[1])
            _ = try queue(3, at: 70, to: file, workspaces[2])
            _ = try queue(4, at: 150, to: file, workspaces[3])
            faults_arm(faults_crash, countdown, 0)
            try file.write(bytes(5), at: Int64(70 * Self.block))
            faults_disarm()
            stored.kill()
            let content = try stored.open().readAll()
            let allowed: [Int: [UInt8]] = [70: [0, 1, 3, 5], 71: [0, 2], 73: [0, 2], 150: [0, 4], 74: [0]]
            for (block, values) in allowed {
                let found = value(of: block, in: content)
                #expect(found.map(values.contains) ?? false, "block \(block) after page \(countdown)")
            }
        }
    }

    @Test("A failure is told to the calls whose blocks did not arrive, and to no other")
    func failed() throws {
        // The tag page; the first block; the second.
        for countdown in 1...3 {
            let stored = try StoredFile()
            let file = try file(blocks: 200, in: stored)
            let workspaces = (0..<3).map { _ in stored.context.workspaces.take() }
            let runs = [
                try queue(1, at: 70, to: file, workspaces[0]),
                try queue(2, at: 71, Self.writeback, to: file, workspaces[1]),
                try queue(3, at: 150, to: file, workspaces[2]),
            ]
            faults_arm(faults_fail, countdown, ENOSPC)
            // Of another group: the failure is not this call's.
            try file.write(bytes(4), at: Int64(20 * Self.block))
            faults_disarm()
            let failure = "\(Fault.system(.noSpace))"
            #expect(runs.map(outcome) == [countdown == 3 ? "written" : failure, failure, "written"])
            #expect(file.isRefused(Int64(71 * Self.block)..<Int64(72 * Self.block)), "writeback was lost")
            #expect(value(of: 20, in: try file.readAll(count: 64 * Self.block)) == 4)
            let later = try file.readAll(from: Int64(70 * Self.block), count: Self.block)
            #expect(value(of: 0, in: later) == (countdown == 3 ? 1 : 0))
        }
    }

    @Test("are refused once the key is gone, though they were sealed before")
    func lockedMeanwhile() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 10, in: stored)
        let workspace = stored.context.workspaces.take()
        let run = try queue(1, at: 5, to: file, workspace)
        file.takeKey()
        #expect(throws: Fault.refused(.dataProtection)) { try file.write(bytes(2), at: Int64(6 * Self.block)) }
        file.restoreKey()
        try file.write(bytes(2), at: Int64(6 * Self.block))
        #expect(outcome(of: run) == "refused", "written with a key of before")
        #expect(value(of: 5, in: try file.readAll()) == 0)
    }

    @Test("are written in the ordinary way where the file was cut meanwhile")
    func cutMeanwhile() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 10, in: stored)
        let workspace = stored.context.workspaces.take()
        let run = try queue(1, at: 8, to: file, workspace)
        try file.truncate(to: Int64(3 * Self.block))
        try file.write(bytes(2), at: Int64(2 * Self.block))
        #expect(outcome(of: run) == "refused", "written behind the end")
        #expect(file.length == Int64(3 * Self.block))
        #expect(value(of: 2, in: try file.readAll()) == 2)
    }

    @Test("Pages of the kernel's cache are acknowledged while another write holds the lock, and are there after it")
    func acknowledged() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 100, in: stored)
        let isWhole = try hold(file) { _ in
            // The lock is held: a write that waited for it would wait for ever.
            for block in [5, 70, 71, 5] {
                try file.writeFromCache(bytes(UInt8(block)), at: Int64(block * Self.block))
            }
        }
        #expect(isWhole)
        try file.commit()
        stored.restart()
        let content = try stored.open().readAll()
        #expect([5, 6, 70, 71].map { value(of: $0, in: content) } == [5, 0, 70, 71])
    }

    @Test("No other write is acknowledged: of a call, behind the end, with another key, or when many wait")
    func notAcknowledged() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 100, in: stored)
        let workspace = stored.context.workspaces.take()
        #expect(try isAcknowledged(1, at: 5, Self.pages, to: file, workspace) == false, "nobody writes")
        _ = try hold(file) { _ in
            #expect(try isAcknowledged(1, at: 6, Self.call, to: file, workspace) == false)
            #expect(try isAcknowledged(1, at: 6, Self.writeback, to: file, workspace) == false)
            let serial = file.key.serial
            for terms in [
                SealedRunQueue.Terms(key: serial, length: Int64(6 * Self.block)),
                SealedRunQueue.Terms(key: serial + 1, length: file.contentLength),
            ] {
                file.sealedRuns.acknowledge(terms)
                #expect(try isAcknowledged(1, at: 6, Self.pages, to: file, workspace) == false)
            }
            file.sealedRuns.acknowledge(file.sealedTerms)
            let others = try (0..<20).map { try queue(2, at: 10 + $0, Self.pages, to: file, workspace) }
            let acknowledged = others.count { $0.write.isAcknowledged }
            #expect(acknowledged > 0 && acknowledged < 20, "as many as wait")
        }
        #expect(try isAcknowledged(1, at: 5, Self.pages, to: file, workspace) == false, "nobody writes any more")
        try file.write(bytes(1), at: 0)
        let content = try file.readAll()
        #expect((10..<30).allSatisfy { value(of: $0, in: content) == 2 })
    }

    @Test("Nothing is acknowledged after a power cut: blocks may be missing, which the ordinary write replaces")
    func afterPowerCut() throws {
        let stored = try StoredFile()
        let before = try file(blocks: 200, in: stored)
        #expect(before.lock.reading { before.sealedTerms?.length } == before.length)
        stored.losePower()
        let after = try stored.open()
        #expect(after.lock.reading { after.sealedTerms == nil })
    }

    @Test("Acknowledged blocks that do not arrive cannot be read, and the write that holds the lock fails")
    func acknowledgedAndLost() throws {
        // The first tag page; its first block; its second; the other tag page; its block.
        for countdown in 1...5 {
            let stored = try StoredFile()
            let file = try file(blocks: 200, in: stored)
            let isWhole = try hold(file) { workspace in
                for block in [70, 71, 150] as [Int64] {
                    let isAcknowledged = try isAcknowledged(1, at: block, Self.pages, to: file, workspace)
                    #expect(isAcknowledged)
                }
                faults_arm(faults_fail, countdown, ENOSPC)
            }
            faults_disarm()
            #expect(!isWhole)
            let lost = [[70, 71], [70, 71], [71], [150], [150]][countdown - 1]
            for block in [70, 71, 150] {
                let read = Result { try file.readAll(from: Int64(block * Self.block), count: Self.block) }
                if lost.contains(block) {
                    #expect(throws: Fault.system(.inputOutput)) { try read.get() }
                } else {
                    let content = try read.get()
                    #expect(value(of: 0, in: content) == 1)
                }
            }
            // Later writes tell of it no more, and a block is whole once it was written again.
            try file.writeFromCache(bytes(2), at: Int64(lost[0] * Self.block))
            let again = try file.readAll(from: Int64(lost[0] * Self.block), count: Self.block)
            #expect(value(of: 0, in: again) == 2)
        }
    }

    @Test("A write whose own blocks arrived fails with those that it wrote for others")
    func failureOfOthers() throws {
        let stored = try StoredFile()
        let file = try file(blocks: 200, in: stored)
        let workspace = stored.context.workspaces.take()
        file.sealedRuns.acknowledge(file.lock.reading { file.sealedTerms })
        #expect(try isAcknowledged(1, at: 70, Self.pages, to: file, workspace))
        file.sealedRuns.acknowledge(nil)
        faults_arm(faults_fail, 1, ENOSPC)
        // EIO and not ENOSPC: that would be tried again, and then nobody would hear of the loss.
        #expect(throws: Fault.system(.inputOutput)) {
            try file.writeFromCache(bytes(2), at: Int64(150 * Self.block))
        }
        faults_disarm()
        #expect(file.isRefused(Int64(70 * Self.block)..<Int64(71 * Self.block)))
        let own = try file.readAll(from: Int64(150 * Self.block), count: Self.block)
        #expect(value(of: 0, in: own) == 2)
    }

    @Test("Acknowledged blocks are old or new after a kill at any of their pages")
    func acknowledgedAndKilled() throws {
        for countdown in 1...9 {
            let stored = try StoredFile()
            let file = try file(blocks: 200, in: stored)
            _ = try hold(file) { workspace in
                _ = try queue(1, at: 70, Self.pages, to: file, workspace)
                _ = try queue(2, at: 71, blocks: 2, Self.pages, to: file, workspace)
                _ = try queue(3, at: 70, Self.pages, to: file, workspace)
                _ = try queue(4, at: 150, Self.pages, to: file, workspace)
                faults_arm(faults_crash, countdown, 0)
            }
            faults_disarm()
            stored.kill()
            let content = try stored.open().readAll()
            let allowed: [Int: [UInt8]] = [70: [0, 1, 3], 71: [0, 2], 72: [0, 2], 150: [0, 4], 73: [0]]
            for (block, values) in allowed {
                let found = value(of: block, in: content)
                #expect(found.map(values.contains) ?? false, "block \(block) after page \(countdown)")
            }
        }
    }

    @Test(
        "are all there when many threads write them at once, beside reads and changes of length",
        arguments: [false, true])
    func storm(fromCache: Bool) throws {
        let stored = try StoredFile()
        let file = try file(blocks: 256, in: stored)
        let writers = 8
        let faults = Mutex<[String]>([])
        let threads = try (0..<writers).map { writer in
            try HostThread(name: "writer") {
                var generator = SeededGenerator(seed: UInt64(writer))
                for value in 1...200 {
                    // Each thread has blocks of its own, in every group.
                    let block = Int.random(in: 0..<256 / writers, using: &generator) * writers + writer
                    do {
                        let bytes = [UInt8](repeating: UInt8(value), count: 4096)
                        if fromCache {
                            try file.writeFromCache(bytes, at: Int64(block * 4096))
                        } else {
                            try file.write(bytes, at: Int64(block * 4096))
                        }
                        let read = try file.readAll(from: Int64(block * 4096), count: 4096)
                        if read != [UInt8](repeating: UInt8(value), count: 4096) {
                            faults.withLock { $0.append("block \(block)") }
                        }
                        if value % 50 == writer { try file.truncate(to: Int64((256 + value) * 4096)) }
                    } catch {
                        faults.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(faults.withLock { $0 } == [])
        let before = try file.readAll()
        try file.commit()
        stored.restart()
        #expect(try stored.open().readAll() == before)
    }
}
