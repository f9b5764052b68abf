// Secret memory: zeroed, locked, and shared by many keys.

import Foundation
import Synchronization
import Testing

@testable import DataProtection

@Suite("Secret memory")
struct SecretMemoryTests {
    @Test("A cell is zero at first, and zeroed when it is given back")
    func zeroed() {
        let arena = unsafe SecretArena { _, _ in true }
        let address: UInt
        do {
            let cell = SecretCell(copying: [UInt8](repeating: 0xAB, count: 32), in: arena)
            #expect(cell.bytes == [UInt8](repeating: 0xAB, count: 32))
            address = UInt(bitPattern: unsafe cell.base)
        }
        // The slab stays mapped, so the cell's bytes can still be read.
        let left = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: 32)
        #expect(unsafe left.allSatisfy { $0 == 0 })
        let next = SecretCell(in: arena)
        #expect(next.bytes == [UInt8](repeating: 0, count: 32))
    }

    @Test("A thousand keys share eight pages, and cells given back are used again")
    func cellsAreSmall() {
        let arena = unsafe SecretArena { _, _ in true }
        for _ in 0..<3 {
            var keys: [FileKey] = []
            for _ in 0..<1024 { keys.append(FileKey(SecretCell(in: arena))) }
            #expect(Set(keys.map { UInt(bitPattern: unsafe $0.secret.base) }).count == 1024)
        }
        #expect(arena.slabCount == 1)
    }

    @Test("The pages of the process's keys are locked and left out of core dumps")
    func kernelFlags() throws {
        let cell = SecretCell.random()
        let address = UInt(bitPattern: unsafe cell.base)
        try #require(SecretMemory.isLocked, "this process may not lock memory: raise ulimit -l")
        var flags: Substring?
        var inside = false
        // Foundation's readers of whole files stop after the first read of a file of /proc.
        let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let range = line.prefix { $0 != " " }.split(separator: "-")
            if range.count == 2, let start = UInt(range[0], radix: 16), let end = UInt(range[1], radix: 16) {
                inside = start <= address && address < end
            } else if inside, line.hasPrefix("VmFlags:") {
                flags = line
            }
        }
        let words = try #require(flags).split(separator: " ")
        #expect(words.contains("lo"))
        #expect(words.contains("dd"))
        withExtendedLifetime(cell.bytes) {}
    }

    @Test("Keys work in memory that cannot be locked, and the arena reports it")
    func limitTooSmall() {
        let arena = unsafe SecretArena { _, _ in false }
        #expect(arena.isLocked)
        let cell = SecretCell(copying: [UInt8](0..<32), in: arena)
        #expect(cell.bytes == [UInt8](0..<32))
        #expect(!arena.isLocked)
    }

    @Test("Two keys never share a serial, from any thread")
    func serials() {
        let seen = Mutex(Set<UInt64>())
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let mine = (0..<500).map { _ in FileKey(SecretCell.random()).serial }
            seen.withLock { $0.formUnion(mine) }
        }
        #expect(seen.withLock { $0.count } == 4000)
        #expect(seen.withLock { !$0.contains(0) })
    }
}
