// A device that is full: calls fail with ENOSPC, what fits is written, and a purge releases space.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

private let documents = "Documents"

@Suite("A device that is full")
struct FullDeviceTests {
    private let home: TestHome
    private var volume: Volume { home.volume }
    private var space: SpaceLedger { home.context.space }

    // In memory: a host that allocates later adds blocks of its own, for which nobody asks.
    init() throws { home = try TestHome(in: "/dev/shm") }

    private func bound(_ bytes: Int64) { space.bound(capacity: bytes, marks: SpaceMarks(low: 0, high: 0)!) }

    @Test func `nothing goes beyond the capacity, and the last of it is kept for what was written before`() throws {
        bound(64 << 20)
        #expect(space.reserve == 1 << 20)
        let parent = try volume.node(documents)
        let (_, handle) = try volume.create("big", in: parent)
        var written = 0
        var refusal: Fault?
        while refusal == nil {
            do throws(Fault) {
                try volume.write(handle, Array(repeating: 1, count: 1 << 20), at: written)
                written += 1 << 20
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .errno(ENOSPC))
        #expect(space.used <= 64 << 20)
        // The kernel's writes use the reserve; nothing else does.
        #expect(space.figures.available == 0)
        #expect(throws: Fault.errno(ENOSPC)) { try volume.makeDirectory("d", in: parent) }
        #expect(throws: Fault.errno(ENOSPC)) { try volume.create("f", in: parent) }
        #expect(throws: Fault.errno(ENOSPC)) { try volume.status(of: handle.nodeID, handle: handle) }
        // Overwriting takes nothing, and removing is how space is made.
        try volume.write(handle, Array(repeating: 2, count: 4096), at: 0)
        volume.close(handle)
        try volume.removeFile("big", in: parent)
        #expect(space.used == 0)
        _ = try volume.makeDirectory("d", in: parent)
    }

    @Test func `a refused range is neither zeros nor what was there, until it is written anew`() throws {
        bound(64 << 20)
        let parent = try volume.node(documents)
        let (entry, handle) = try volume.create("sparse", in: parent)
        var change = FileStatusChange()
        change.size = 200 << 20
        _ = try volume.changeStatus(change, of: entry.node, handle: handle)
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        var offset = 0
        while (try? volume.write(handle, piece, at: offset)) != nil { offset += 2 << 20 }
        // Of the last piece as much was written as there was space for.
        offset += (1 << 20) - 4096
        #expect(throws: Fault.errno(EIO)) { try volume.bytes(handle, from: offset, count: 4096) }
        #expect(try volume.bytes(handle, from: offset + 4096, count: 4096).allSatisfy { $0 == 0 })
        volume.close(handle)

        // The kernel is to look it up again.
        volume.forget(entry.node, count: 1)
        func reopened() throws -> Handle {
            try volume.open(try volume.lookup("sparse", in: parent).node, flags: O_RDWR)
        }
        let again = try reopened()
        #expect(throws: Fault.errno(EIO)) { try volume.bytes(again, from: offset, count: 4096) }
        #expect(try volume.bytes(again, from: offset + 4096, count: 4096).allSatisfy { $0 == 0 })
        volume.close(again)
        try home.restart()
        let parentAfter = try volume.node(documents)
        let after = try volume.open(try volume.lookup("sparse", in: parentAfter).node, flags: O_RDWR)
        #expect(throws: Fault.errno(EIO)) { try volume.bytes(after, from: offset, count: 4096) }
        space.bound(capacity: nil, marks: .usual)
        try volume.write(after, piece, at: offset)
        #expect(try volume.bytes(after, from: offset, count: 1 << 20) == piece)
        volume.close(after)
    }

    @Test func `space that fallocate took is there for writes`() throws {
        bound(64 << 20)
        let parent = try volume.node(documents)
        let (_, reserved) = try volume.create("reserved", in: parent)
        try volume.allocate(reserved, mode: 0, offset: 0, count: 8 << 20)
        let (_, filler) = try volume.create("filler", in: parent)
        var offset = 0
        while (try? volume.write(filler, [UInt8](repeating: 1, count: 1 << 18), at: offset)) != nil {
            offset += 1 << 18
        }
        for offset in stride(from: 0, to: 8 << 20, by: 1 << 20) {
            try volume.write(reserved, [UInt8](repeating: 3, count: 1 << 20), at: offset)
        }
        #expect(throws: Fault.errno(ENOSPC)) { try volume.allocate(reserved, mode: 1, offset: 0, count: 32 << 20) }
        volume.close(reserved)
        volume.close(filler)
    }

    @Test func `space that was reserved elsewhere is none for what is written here`() throws {
        bound(16 << 20)
        let parent = try volume.node(documents)
        let (_, handle) = try volume.create("f", in: parent)
        try volume.write(handle, [1, 2], at: 0)
        try volume.allocate(handle, mode: 1, offset: 100 << 20, count: 14 << 20)
        #expect(throws: Fault.errno(ENOSPC)) {
            for offset in stride(from: 2, to: 4 << 20, by: 1 << 20) {
                try volume.write(handle, [UInt8](repeating: 1, count: 1 << 20), at: offset)
            }
        }
        volume.close(handle)
        #expect(space.used <= 16 << 20)
        #expect(try space.used == space.bytes(below: home.data.descriptor) - walkedBefore)
        try volume.removeFile("f", in: parent)
        #expect(space.used == 0)
    }

    @Test func `the report of low space includes the write under way`() throws {
        space.bound(capacity: 64 << 20, marks: SpaceMarks(low: 20, high: 30)!)
        let parent = try volume.node(documents)
        let space = self.space
        let told = Told { space.figures.available }
        space.reliever = told
        try fill("big", 55 << 20, in: parent)
        let seen = try #require(told.available.withLock { $0 })
        // Space claimed for the write under way counts too.
        #expect(seen < space.lowWater)
        #expect(seen > space.lowWater - (3 << 20))
    }

    @Test func `a call is repeated when a purge has made space for it`() throws {
        bound(64 << 20)
        let parent = try volume.node(documents)
        try fill("old", 40 << 20, in: parent)
        // The volume keeps the relief.
        let relief = Relief { [weak volume = self.volume] in try? volume?.removeFile("old", in: parent) }
        space.reliever = relief
        try fill("new", 40 << 20, in: parent)
        #expect(relief.calls.load(ordering: .relaxed) == 1)
    }

    private func fill(_ name: FileName, _ count: Int, in parent: NodeID) throws {
        let (_, handle) = try volume.create(name, in: parent)
        defer { volume.close(handle) }
        for offset in stride(from: 0, to: count, by: 1 << 20) {
            try volume.write(handle, [UInt8](repeating: 1, count: 1 << 20), at: offset)
        }
    }

    @Test func `eight writers at the bound do not go beyond it`() throws {
        bound(32 << 20)
        let parent = try volume.node(documents)
        let volume = self.volume
        let refused = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            guard let (_, handle) = try? volume.create(FileName("w\(number)")!, in: parent) else { return }
            for index in 0..<200 {
                do throws(Fault) {
                    try volume.write(handle, [UInt8](repeating: 1, count: 65536), at: index << 16)
                } catch {
                    if error == .errno(ENOSPC) { refused.add(1, ordering: .relaxed) }
                }
            }
            volume.close(handle)
        }
        #expect(refused.load(ordering: .relaxed) > 0)
        #expect(space.used <= 32 << 20)
        #expect(try space.used == space.bytes(below: home.data.descriptor) - walkedBefore)
    }

    /// The bytes that the fixture has stored without counting them.
    private var walkedBefore: Int64 {
        get throws {
            let fresh = try TestHome(in: "/dev/shm")
            return try fresh.context.space.bytes(below: fresh.data.descriptor)
        }
    }
}

/// Remembers what was available when it was told.
private final class Told: SpaceRelief {
    let available = Mutex<Int64?>(nil)
    private let look: @Sendable () -> Int64

    init(_ look: @escaping @Sendable () -> Int64) { self.look = look }

    var purgeable: Int64 { 0 }
    func spaceIsLow() {
        let now = look()
        available.withLock { if $0 == nil { $0 = now } }
    }
    func makeSpace(for bytes: Int64) -> Bool { false }
}

/// Makes space once.
private final class Relief: SpaceRelief {
    let calls = Atomic(0)
    private let free: @Sendable () -> Void

    init(_ free: @escaping @Sendable () -> Void) { self.free = free }

    var purgeable: Int64 { 0 }
    func spaceIsLow() {}
    func makeSpace(for bytes: Int64) -> Bool {
        guard calls.add(1, ordering: .relaxed).oldValue == 0 else { return false }
        free()
        return true
    }
}
