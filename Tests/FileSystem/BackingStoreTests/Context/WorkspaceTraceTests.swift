// Traces of class A, plaintext and keys, in the workspaces after calls.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore
@testable import DataProtection

/// Each search is also run where the trace is known to be: a search that never finds anything proves nothing.
@Suite("Traces of class A in working memory", .serialized)
struct WorkspaceTraceTests {
    private let stored: StoredFile
    private var context: StoreContext { stored.context }
    private let mark = Array("plaintext of A, ".utf8)

    init() throws { stored = try StoredFile() }

    private func text(_ count: Int) -> [UInt8] { (0..<count).map { mark[$0 % mark.count] } }

    /// One thread has used the pool: it has one workspace, or none yet.
    /// - Returns: in how many of its two buffers the mark is.
    private func traces() -> Int {
        let workspace = context.workspaces.take()
        defer { context.workspaces.give(workspace) }
        return [workspace.image, workspace.block].count { buffer in
            Data(buffer.bytes(0, count: buffer.count)).range(of: Data(mark)) != nil
        }
    }

    @Test("Other classes leave their plaintext, and are found")
    func others() throws {
        let file = try stored.create(.standard, text(50_000))
        _ = try file.readAll()
        #expect(traces() > 0)
        let blocks = try stored.create(.standard, text(100), named: "short")
        try blocks.write(text(10), at: 50)
        #expect(traces() > 0)
    }

    @Test("Reads, writes of parts of blocks, truncations and zeroing leave none")
    func calls() throws {
        let file = try stored.create(.complete, text(300_000))
        #expect(traces() == 0)
        for (offset, count) in [(0, 300_000), (5, 100), (250_000, 100_000), (299_999, 1)] {
            _ = try file.readAll(from: Int64(offset), count: count)
            #expect(traces() == 0, "read \(offset), \(count)")
        }
        try file.write(text(48), at: 1024)
        #expect(traces() == 0, "write within a block")
        try file.write(text(100_000), at: 1024)
        #expect(traces() == 0, "write with ragged ends")
        try file.truncate(to: 200_016)
        #expect(traces() == 0, "truncate within a block")
        try file.zero(150_000, count: 48, releasing: false)
        #expect(traces() == 0, "zero within a block")
        try file.zero(100_000, count: 50_000, releasing: true)
        #expect(traces() == 0, "punch")
        try file.changeProtection(to: .none)
        try file.changeProtection(to: .complete)
        try file.synchronize(dataOnly: false)
        try file.commit()
        #expect(traces() == 0, "commit")
        #expect(try file.readAll(count: 100_000) == text(100_000))
        #expect(traces() == 0)
    }

    @Test("A read that fails halfway leaves none")
    func failed() throws {
        let file = try stored.create(.complete, text(100_000))
        try file.commit()
        var bytes = stored.bytes
        bytes[Int(ContentLayout.blockOffset(20)) + 100] ^= 1
        stored.bytes = bytes
        #expect(throws: Fault.corrupt) { try file.readAll() }
        #expect(traces() == 0)
        #expect(throws: Fault.corrupt) { try file.write(text(10), at: 20 * Int64(ContentLayout.blockSize) + 500) }
        #expect(traces() == 0)
        context.openFiles.refuseReading()
        #expect(throws: Fault.self) { try file.readAll() }
        try file.write(text(48), at: 1024)
        #expect(traces() == 0, "written while nothing is read")
    }

    @Test("Recovery after a kill leaves none", arguments: [0, 1, 2])
    func killed(call: Int) throws {
        do {
            let file = try stored.create(.complete, text(3_000_000))
            // Twice, so that there are two versions to tell apart.
            for start in [0, 1_000_000, 2_000_000] { try file.write(text(1_000_000), at: Int64(start)) }
            try file.truncate(to: 3_500_000)
            try file.commit()
        }
        stored.kill()
        let file = try stored.open()
        #expect(traces() == 0, "opened")
        switch call {
        case 0: #expect(try file.seek(from: 0, toHole: true) == 3_002_368)
        case 1:
            try file.allocate(3_400_000, count: 300_000, extending: true)
            try file.synchronize(dataOnly: false)
        default:
            try file.truncate(to: 2_999_000)
            try file.commit()
        }
        #expect(traces() == 0)
    }

    @Test("Plaintext that was read before the file was given class A goes with the keys")
    func changed() throws {
        let file = try stored.create(.standard, text(500_000))
        let other = try stored.create(.standard, [1, 2, 3], named: "other")
        try file.write(text(10), at: 5)
        _ = try file.readAll()
        _ = try other.readAll()
        try file.changeProtection(to: .complete)
        context.openFiles.refuseReading()
        context.openFiles.close()
        #expect(traces() == 0)
    }

    // MARK: Keys

    private func masked(_ file: EncryptedFile) -> [UInt8] {
        let key = file.key
        return (0..<SecretCell.count).map { unsafe ~key.secret.base.load(fromByteOffset: $0, as: UInt8.self) }
    }

    @Test("A closed file's key is nowhere, though the file stays open and a call is under way")
    func keys() throws {
        let file = try stored.create(.complete, text(10_000))
        let key = masked(file)
        #expect(ProcessMemory.occurrences(masked: key) >= 2, "held, and in a cipher's schedule")
        context.openFiles.refuseReading()
        context.openFiles.close()
        #expect(ProcessMemory.occurrences(masked: key) == 0)

        context.openFiles.reopen()
        try file.read(count: 5000, from: 0) { _ in
            context.openFiles.refuseReading()
            context.openFiles.close()
            #expect(ProcessMemory.occurrences(masked: key) >= 1, "the call that is under way has it")
        }
        #expect(ProcessMemory.occurrences(masked: key) == 0)
        #expect(traces() == 0)
        withExtendedLifetime(file) {}
    }

    @Test("A restart takes the keys of every class", arguments: ProtectionClass.allCases)
    func restart(protection: ProtectionClass) throws {
        let file = try stored.create(protection, text(10_000))
        let key = masked(file)
        #expect(ProcessMemory.occurrences(masked: key) >= 2)
        context.openFiles.retireAll(admittingComplete: true)
        #expect(ProcessMemory.occurrences(masked: key) == 0)
        withExtendedLifetime(file) {}
    }

    @Test("A file of another class keeps its key while class A is closed, and works with it")
    func otherKeys() throws {
        let file = try stored.create(.completeUnlessOpen, text(10_000))
        let key = masked(file)
        context.openFiles.refuseReading()
        context.openFiles.close()
        #expect(ProcessMemory.occurrences(masked: key) == 1, "held, and in no schedule")
        #expect(try file.readAll() == text(10_000))
    }
}
