// What an open file does with its content while the device locks, unlocks and restarts.

import DataProtection
import Foundation
import Platform
import SandboxModel
import Testing

@testable import BackingStore

private let refused = Fault.refused(.dataProtection)
private let gone = Fault.system(.inputOutput)

@Suite("Open content of each class while the device locks, unlocks and restarts")
struct AccessTests {
    private let stored: StoredFile
    private var openFiles: OpenFileRegistry { stored.context.openFiles }

    init() throws { stored = try StoredFile() }

    private func bytes(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 31 >> 3) }
    }

    @Test("While it is written out it is not read; closed, neither; unlocked, it is as it was and as it was written")
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
        // What has no content in it goes on: the length, and fsync.
        #expect(file.length == 350_001)
        try file.synchronize(dataOnly: false)
        try file.commit()
        #expect(file.heldKey == nil)
        openFiles.reopen()
        #expect(try file.readAll() == Array(bytes(300_000)[..<250_001]) + bytes(100_000, 7))
        try file.write([9], at: 0)
        #expect(try file.readAll(count: 1) == [9])
    }

    @Test("After a restart it answers EIO for good, whatever its class", arguments: ProtectionClass.allCases)
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
        // Another opening of it is whole.
        #expect(try stored.open().readAll() == bytes(5000))
    }

    @Test("A file that was growing when its key went says its length", arguments: [false, true])
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

    @Test("A growing file grows on after the unlock")
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

    @Test("Without the class's key it stays closed")
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

    @Test("A file that left or entered class A before the lock is treated as what it is")
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

    @Test("From the refusal to read until the unlock no file of class A is opened or made")
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

@Suite("What was written to class A when its key had gone")
struct LossTests {
    private let stored: StoredFile
    private let file: EncryptedFile
    private let whole = [UInt8](repeating: 65, count: 100_000)
    private var openFiles: OpenFileRegistry { stored.context.openFiles }

    init() throws {
        stored = try StoredFile()
        file = try stored.create(.complete, whole)
    }

    private func lose(_ ranges: Range<Int64>...) {
        openFiles.refuseReading()
        openFiles.close()
        for range in ranges {
            let bytes = [UInt8](repeating: 66, count: range.count)
            #expect(throws: refused) { try file.write(bytes, at: range.lowerBound) }
        }
        openFiles.reopen()
    }

    private func rewrite(_ range: Range<Int64>) throws {
        try file.write([UInt8](repeating: 67, count: range.count), at: range.lowerBound)
    }

    private func isLost(_ offset: Int64) -> Bool { (try? file.readAll(from: offset, count: 1)) == nil }

    @Test("It is neither the old bytes nor zeros, and what is beside it is as it was")
    func unreadable() throws {
        lose(10_000..<20_000)
        #expect(throws: gone) { try file.readAll() }
        #expect(throws: gone) { try file.readAll(from: 9_999, count: 2) }
        #expect(throws: gone) { try file.readAll(from: 19_999, count: 1) }
        #expect(try file.readAll(count: 10_000) == Array(whole[..<10_000]))
        #expect(try file.readAll(from: 20_000) == Array(whole[20_000...]))
    }

    @Test("It is told once, and again when more is lost")
    func told() throws {
        #expect(file.takeUnreportedLoss() == [] && !file.hasLoss)
        lose(10..<20)
        #expect(file.takeUnreportedLoss() == [10..<20])
        #expect(file.takeUnreportedLoss() == [] && file.hasLoss)
        lose(30..<40, 15..<25)
        #expect(file.takeUnreportedLoss() == [15..<25, 30..<40])
        #expect(file.takeUnreportedLoss() == [])
    }

    @Test("Written again it is there, from either end, also in part")
    func rewritten() throws {
        lose(10_000..<20_000)
        try rewrite(9_000..<12_000)
        #expect(!isLost(11_999) && isLost(12_000))
        try rewrite(18_000..<20_000)
        #expect(isLost(17_999) && !isLost(18_000))
        try rewrite(20_000..<21_000)
        #expect(isLost(12_000) && isLost(17_999))
        try rewrite(12_000..<18_000)
        #expect(!file.hasLoss)
        #expect(
            try file.readAll()
                == Array(whole[..<9_000]) + [UInt8](repeating: 67, count: 12_000) + Array(whole[21_000...]))
    }

    @Test("Behind the end it counts too, and is over when the file is cut or zeroed there")
    func cut() throws {
        lose(150_000..<160_000)
        #expect(isLost(155_000))
        try file.truncate(to: 155_000)
        #expect(isLost(154_999))
        try file.truncate(to: 200_000)
        #expect(isLost(154_999) && !isLost(155_000))
        try file.truncate(to: 0)
        #expect(!file.hasLoss)
        try file.truncate(to: 200_000)
        #expect(try file.readAll() == [UInt8](repeating: 0, count: 200_000))
        lose(4096..<8192)
        try file.zero(0, count: 6000, releasing: false)
        #expect(!isLost(5999) && isLost(6000))
        try file.zero(4096, count: 4096, releasing: true)
        #expect(!file.hasLoss)
    }

    @Test("What is refused after a restart is lost as well, and told")
    func retired() throws {
        openFiles.retireAll(admittingComplete: true)
        #expect(throws: gone) { try rewrite(10..<20) }
        #expect(file.takeUnreportedLoss() == [10..<20])
        #expect(file.takeUnreportedLoss() == [])
    }

    @Test("Another class loses nothing")
    func others() throws {
        let other = try stored.create(.completeUnlessOpen, whole, named: "other")
        openFiles.close()
        try other.write([1], at: 0)
        #expect(other.takeUnreportedLoss() == [] && !other.hasLoss)
    }
}

extension StoredFile {
    func create(_ protection: ProtectionClass, _ bytes: [UInt8] = [], named name: String = "file") throws
        -> EncryptedFile
    {
        let file = SharedDescriptor(
            try Descriptor.open(path: directory + "/" + name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
        let content = try EncryptedFile.create(
            file, inode: try file.descriptor.status().inode, protection: protection, context: context)
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            try content.write(Array(bytes[start..<min(bytes.count, start + 1 << 20)]), at: Int64(start))
        }
        return content
    }

    func open(named name: String) throws -> EncryptedFile {
        let file = SharedDescriptor(try Descriptor.open(path: directory + "/" + name, flags: O_RDWR))
        return try EncryptedFile.open(file, isWritable: true, context: context)
    }
}
