// The locks of entries and of files: their order, what they exclude, and what they let go on.

import BackingStore
import CAllocations
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import ContainerVolume

@Suite("The locks of entries and of files", .timeLimit(.minutes(5)))
struct EntryLockTests {
    private let locks = EntryLocks()

    /// Runs `body` in so many threads, and waits for all of them.
    private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let done = DispatchSemaphore(value: 0)
        for number in 0..<count {
            Thread.detachNewThread {
                body(number)
                done.signal()
            }
        }
        for _ in 0..<count { done.wait() }
    }

    @Test("Directories come before files, whatever their inodes, and all stripes are used")
    func stripes() {
        let inodes = (0..<20_000 as Range<UInt64>).map { $0 } + (0..<20_000).map { 1 + $0 << 13 } + [.max, .max - 1]
        let directories = Set(inodes.map { EntryLocks.stripe(ofDirectory: $0) })
        let files = Set(inodes.map { EntryLocks.stripe(ofFile: $0) })
        #expect(directories.max()! < files.min()!)
        #expect(directories.union(files) == Set(0..<EntryLocks.count))
    }

    @Test("Directories that a host numbers far apart are spread over the stripes")
    func spread() {
        let stripes = (0..<64 as Range<UInt64>).map { EntryLocks.stripe(ofDirectory: 2 + $0 << 13) }
        #expect(Set(stripes).count > 32)
    }

    @Test("Two stripes have one order, and two that are the same are one")
    func order() {
        #expect(EntryLocks.order(3, 200) == (3, 200))
        #expect(EntryLocks.order(200, 3) == (3, 200))
        #expect(EntryLocks.order(7, 7) == (7, nil))
        // Taken twice, it would wait for itself.
        #expect(locks.writing(7, 7) { 1 } == 1)
    }

    @Test("A stripe that is held exclusively is held by one, and another at the same time by another")
    func exclusion() {
        final class Count: @unchecked Sendable { var value = 0 }
        let count = Count()
        inThreads(4) { [locks] number in
            for step in 0..<5000 {
                switch (number + step) % 3 {
                case 0: locks.writing(9) { count.value += 1 }
                case 1: locks.writing(9, 10) { count.value += 1 }
                default: locks.writing(8, 9) { count.value += 1 }
                }
            }
        }
        #expect(count.value == 20_000)
        locks.writing(9) { inThreads(1) { [locks] _ in locks.writing(10, 8) {} } }
        locks.reading(9) { inThreads(1) { [locks] _ in locks.reading(9) {} } }
    }

    @Test("Threads that take the same pairs in reverse end")
    func reversedPairs() {
        let taken = Atomic(0)
        inThreads(4) { [locks] number in
            for step in 0..<20_000 {
                let pair = (step % 3, (step + 1) % 3)
                if number % 2 == 0 {
                    locks.writing(pair.0, pair.1) { _ = taken.wrappingAdd(1, ordering: .relaxed) }
                } else {
                    locks.writing(pair.1, pair.0) { _ = taken.wrappingAdd(1, ordering: .relaxed) }
                }
            }
        }
        #expect(taken.load(ordering: .relaxed) == 80_000)
    }

    @Test("An error leaves no lock behind")
    func errors() {
        #expect(throws: SystemError.noSpace) {
            try locks.writing(4, 5) { () throws(SystemError) in throw SystemError.noSpace }
        }
        inThreads(1) { [locks] _ in locks.writing(5, 4) {} }
    }

    @Test("Taking them allocates nothing")
    func allocations() {
        func take() {
            for step in 0..<1000 {
                locks.writing(step % 128, step % 100) { locks.writing(128 + step % 128, 128 + step % 100) {} }
                locks.reading(step % 256) {}
            }
        }
        take()
        let before = allocations_count()
        take()
        #expect(allocations_count() - before == 0)
    }
}

@Suite("Calls on other names", .timeLimit(.minutes(5)))
struct OtherNamesTests {
    private let home: TestHome
    private var volume: Volume { home.volume }
    private let busy: NodeID
    private let free: NodeID

    /// Two directories whose entries have different locks, and a file in each.
    init() throws {
        home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        busy = try volume.makeDirectory("busy", in: documents).node
        func stripe(_ id: NodeID) -> Int { EntryLocks.stripe(ofDirectory: volume.table.node(id)!.inode) }
        var other = try volume.makeDirectory("free", in: documents).node
        var number = 0
        while stripe(other) == stripe(busy) {
            other = try volume.makeDirectory(FileName("free-\(number)")!, in: documents).node
            number += 1
        }
        free = other
        try volume.make("slow", in: busy, "slow")
    }

    /// Runs `body` while a call lists the busy directory.
    private func whileListing(_ body: @escaping @Sendable (Volume) throws(Fault) -> Void) throws {
        let failure = Mutex<Fault?>(nil)
        var calls = 0
        try volume.list(busy, from: 0, withEntries: false) { [volume] _ in
            calls += 1
            guard calls == 1 else { return true }
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do throws(Fault) { try body(volume) } catch { failure.withLock { $0 = error } }
                done.signal()
            }
            done.wait()
            return true
        }
        #expect(calls == 3)
        #expect(failure.withLock { $0 } == nil)
    }

    @Test("do not wait for a slow call in another directory")
    func slowCall() throws {
        let (free, busy) = (free, busy)
        try whileListing { volume throws(Fault) in
            let node = try volume.make("a", in: free, "a")
            try volume.make("b", in: free, "b")
            try volume.rename("a", in: free, to: "c", in: free, mode: .replacing)
            try volume.rename("c", in: free, to: "b", in: free, mode: .exchanging)
            _ = try volume.link(node, to: "d", in: free)
            try volume.rename("c", in: free, to: "b", in: free, mode: .replacing)
            // A name that others see comes and goes as before.
            try volume.removeFile("d", in: free)
            _ = try volume.lookup("slow", in: busy)
        }
        #expect(try volume.names(in: free) == ["b"])
        #expect(try volume.text("Documents/busy/slow") == "slow")
    }
}
