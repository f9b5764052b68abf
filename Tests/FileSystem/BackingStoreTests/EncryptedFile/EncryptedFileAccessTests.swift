// Access to an open file while the device locks, unlocks and restarts.

import DataProtection
import Foundation
import Platform
import SandboxModel
import Testing

@testable import BackingStore

private let refused = Fault.refused(.dataProtection)
private let gone = Fault.system(.inputOutput)

@Suite("Open files of each class while the device locks, unlocks and restarts")
struct EncryptedFileAccessTests {
    private let stored: StoredFile
    private var openFiles: OpenFileRegistry { stored.context.openFiles }

    init() throws { stored = try StoredFile() }

    private func bytes(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 31 >> 3) }
    }

    @Test("During writeback reads are refused; closed, writes too; unlocked, all that was written is there")
    func steps() throws {
        let file = try stored.create(.complete, bytes(300_000))
        openFiles.refuseReading()
        #expect(throws: refused) { try file.readAll() }
        #expect(throws: refused) { try file.truncate(to: 5) }
        #expect(throws: refused) { try file.zero(0, count: 10, releasing: true) }
        #expect(throws: refused) { try file.allocate(0, count: 10, extending: true) }
        #expect(throws: refused) { try file.seek(from: 0, toHole: true) }
        #expect(throws: refused) { try file.changeProtection(to: .none) }
        try file.write(bytes(100_000, 7), at: 250_001)
        openFiles.close()
        #expect(throws: refused) { try file.readAll() }
        #expect(throws: refused) { try file.truncate(to: 5) }
        #expect(throws: refused) { try file.write([1], at: 400_000) }
        // The length and fsync(2) need no key.
        #expect(file.length == 350_001)
        try file.synchronize(dataOnly: false)
        try file.commit()
        #expect(file.heldKey == nil)
        openFiles.reopen()
        #expect(try file.readAll() == Array(bytes(300_000)[..<250_001]) + bytes(100_000, 7))
        try file.write([9], at: 0)
        #expect(try file.readAll(count: 1) == [9])
    }

    @Test("After a restart an open file answers EIO for good, whatever its class", arguments: ProtectionClass.allCases)
    func retired(protection: ProtectionClass) throws {
        let file = try stored.create(protection, bytes(5000))
        openFiles.retireAll(admittingComplete: true)
        openFiles.reopen()
        openFiles.refuseReading()
        openFiles.close()
        openFiles.reopen()
        #expect(throws: gone) { try file.readAll() }
        #expect(throws: gone) { try file.write([1], at: 0) }
        #expect(throws: gone) { try file.truncate(to: 0) }
        #expect(throws: gone) { try file.changeProtection(to: .none) }
        #expect(file.heldKey == nil)
        try file.synchronize(dataOnly: false)
        try file.commit()
        // Opened again it is whole.
        #expect(try stored.open().readAll() == bytes(5000))
    }

    @Test("The header of a file that was growing when its key went has the length", arguments: [false, true])
    func growing(restarts: Bool) throws {
        let file = try stored.create(.complete, bytes(4096))
        for piece in 1..<200 { try file.write(bytes(8192, piece), at: Int64(4096 + (piece - 1) * 8192)) }
        try #require(file.header.isOpen, "the header of a growing file is open")
        let whole = try file.readAll()
        if restarts { openFiles.retireAll(admittingComplete: true) } else { openFiles.close() }
        #expect(!file.header.isOpen)
        try file.commit()
        stored.restart()
        let again = try stored.open()
        #expect(!again.lengthWasRecovered)
        #expect(!again.header.isOpen)
        #expect(try again.readAll() == whole)
        withExtendedLifetime(file) {}
    }

    @Test("A growing file goes on growing after the unlock")
    func growsOn() throws {
        let file = try stored.create(.complete)
        var whole: [UInt8] = []
        for piece in 0..<30 {
            let more = bytes(50_000 + piece, piece)
            try file.write(more, at: Int64(whole.count))
            whole += more
            if piece % 3 == 0 {
                openFiles.refuseReading()
                openFiles.close()
                openFiles.reopen()
            }
        }
        try file.commit()
        stored.restart()
        #expect(try stored.open().readAll() == whole)
    }

    @Test("Without the class key a file stays closed")
    func withoutClassKey() throws {
        let file = try stored.create(.complete, bytes(100))
        openFiles.close()
        stored.keys.forget([.complete])
        openFiles.reopen()
        #expect(throws: refused) { try file.readAll() }
        #expect(throws: refused) { try file.write([1], at: 0) }
    }

    @Test(
        "Every other class is left alone", arguments: ProtectionClass.allCases.filter { $0 != .complete })
    func others(protection: ProtectionClass) throws {
        let file = try stored.create(protection, bytes(5000))
        openFiles.refuseReading()
        #expect(try file.readAll() == bytes(5000))
        openFiles.close()
        #expect(file.heldKey != nil)
        try file.write(bytes(5000, 3), at: 2500)
        #expect(try file.readAll() == Array(bytes(5000)[..<2500]) + bytes(5000, 3))
        try file.truncate(to: 10)
        #expect(try stored.open().readAll() == Array(bytes(10)))
    }

    @Test("A file that left or entered class A before the lock is treated by its new class")
    func changed() throws {
        let left = try stored.create(.complete, bytes(100), named: "left")
        let entered = try stored.create(.none, bytes(100), named: "entered")
        try left.changeProtection(to: .none)
        try entered.changeProtection(to: .complete)
        openFiles.refuseReading()
        openFiles.close()
        #expect(try left.readAll() == bytes(100))
        #expect(throws: refused) { try entered.readAll() }
        openFiles.reopen()
        #expect(try entered.readAll() == bytes(100))
    }

    @Test("From the refusal to read until the unlock no file of class A is opened or created")
    func admission() throws {
        let files = try ProtectionClass.allCases.map { try stored.create($0, named: "\($0)") }
        for (index, protection) in ProtectionClass.allCases.enumerated() {
            openFiles.refuseReading()
            for _ in 0..<2 {
                if protection == .complete {
                    #expect(throws: refused) { try stored.open(named: "\(protection)") }
                    #expect(throws: refused) { try stored.create(protection, named: "new") }
                    try FileManager.default.removeItem(atPath: stored.directory + "/new")
                } else {
                    _ = try stored.open(named: "\(protection)")
                }
                openFiles.close()
            }
            openFiles.reopen()
            _ = try stored.open(named: "\(protection)")
            openFiles.retireAll(admittingComplete: false)
            if protection == .complete {
                #expect(throws: refused) { try stored.open(named: "\(protection)") }
            }
            openFiles.retireAll(admittingComplete: true)
            _ = try stored.open(named: "\(protection)")
            withExtendedLifetime(files[index]) {}
        }
    }
}
