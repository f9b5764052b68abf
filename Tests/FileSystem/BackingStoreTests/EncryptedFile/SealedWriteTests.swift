// Writes of whole blocks that are sealed before the lock is held, and written together.

import CHostFaults
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

    /// Seals a write and has it wait for the next holder of the lock.
    private func queue(
        _ value: UInt8, at block: Int64, blocks: Int = 1, for purpose: SpaceLedger.Purpose = .call,
        to file: EncryptedFile, _ workspace: Workspace
    ) throws -> SealedRun {
        let bytes = bytes(value, blocks: blocks)
        let run = try #require(
            unsafe file.sealRun(bytes.span.bytes, at: block * Int64(Self.block), for: purpose, workspace))
        file.sealedRuns.add(run)
        return run
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
                try queue(2, at: 71, for: .writtenBack, to: file, workspaces[1]),
                try queue(3, at: 150, to: file, workspaces[2]),
            ]
            faults_arm(faults_fail, countdown, ENOSPC)
            // Of another group: the failure is not this call's.
            try file.write(bytes(4), at: Int64(20 * Self.block))
            faults_disarm()
            // The store was read anew, so the call of another group is made again by its own thread.
            let failure = "\(Fault.system(.noSpace))"
            #expect(runs.map(outcome) == [countdown == 3 ? "written" : failure, failure, "refused"])
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

    @Test("are all there when many threads write them at once, beside reads and changes of length")
    func storm() throws {
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
                        try file.write([UInt8](repeating: UInt8(value), count: 4096), at: Int64(block * 4096))
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
