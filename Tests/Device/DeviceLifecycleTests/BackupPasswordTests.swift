// Tests of the backup password: when it can be set, changed and removed, and what lies in the device under it.

import BackingStore
import DataProtection
import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct BackupPasswordTests {
    let base = BackupTests()
    let password = Array("swordfish".utf8)
    let other = Array("marlin".utf8)

    private var file: String { base.scratch.device + "/PasswordKeybag" }

    private func lock(_ device: BootedDevice) {
        device.beginLocking()
        device.closeToNew()
        device.takeKeys()
    }

    private func opens(_ device: BootedDevice, _ password: [UInt8]) throws -> Bool {
        (try? device.backupPassword.keybag()?.open(password: password)) != nil
    }

    @Test func `it is set once, changed and removed with the old one, and stored nowhere`() throws {
        let device = try base.make(passcode: "1234")
        let backups = device.backupPassword
        #expect(try backups.keybag() == nil)
        #expect(complaint { try backups.change(from: password, to: other) }?.kind == .backupPasswordState)
        #expect(complaint { try backups.remove(password) }?.kind == .backupPasswordState)
        try backups.set(password)
        #expect(try opens(device, password))
        #expect(complaint { try backups.set(other) }?.kind == .backupPasswordState)
        for wrong in [other, [], password + [32]] {
            #expect(complaint { try backups.change(from: wrong, to: other) }?.kind == .wrongPassword)
            let refused = complaint { try backups.remove(wrong) }
            #expect(refused?.kind == .wrongPassword && refused?.message.contains("appcontainer erase") == true)
        }
        try backups.change(from: password, to: other)
        #expect(try opens(device, other) && !opens(device, password))
        #expect(try shell("stat -c %a '\(file)'") == "600\n")
        #expect(try shell("grep -rac marlin '\(file)' || true") == "0\n")
        try backups.remove(other)
        #expect(try backups.keybag() == nil && !FileManager.default.fileExists(atPath: file))
        try backups.set(password)
    }

    @Test(arguments: ["", "two\nlines", "end\r"])
    func `one that is no line is refused`(text: String) throws {
        let device = try base.make()
        #expect(complaint { try device.backupPassword.set(Array(text.utf8)) }?.kind == .invalidPasscode)
        try device.backupPassword.set(password)
        let change = complaint { try device.backupPassword.change(from: password, to: Array(text.utf8)) }
        #expect(change?.kind == .invalidPasscode)
        #expect(try opens(device, password))
    }

    @Test func `a locked device gets none, and one before its first unlock neither; changing one needs no unlock`()
        throws
    {
        let device = try base.make(passcode: "1234")
        device.beginLocking()
        device.closeToNew()
        // The keys are still there.
        #expect(complaint { try device.backupPassword.set(password) }?.kind == .deviceLocked)
        device.takeKeys()
        #expect(complaint { try device.backupPassword.set(password) }?.kind == .deviceLocked)
        try device.open("1234")
        device.forgetAsAfterBoot()
        #expect(complaint { try device.backupPassword.set(password) }?.kind == .deviceLocked)
        #expect(try device.backupPassword.keybag() == nil)
        try device.open("1234")
        try device.backupPassword.set(password)
        lock(device)
        try device.backupPassword.change(from: password, to: other)
        #expect(try opens(device, other))
        try device.backupPassword.remove(other)
    }

    @Test func `another passcode, none, and a boot leave it as it is`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        let before = try device.backupPassword.keybag()
        try device.passcode.change(from: Array("1234".utf8), to: Array("5678".utf8))
        try device.passcode.remove(Array("5678".utf8))
        #expect(try device.backupPassword.keybag() == before)
        try device.shutDown()
        device.release()
        let again = try base.scratch.boot()
        #expect(try again.backupPassword.keybag() == before)
        try again.backupPassword.change(from: password, to: other)
    }

    @Test func `a clone has it under a code of its own, an erased device has none`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        let keybag = try device.backupPassword.keybag()
        try device.shutDown()
        device.release()
        let copy = base.scratch["copy"]
        try StoredDevice.clone(base.scratch.device, to: copy)
        #expect(try DeviceDirectory.open(at: copy).passwordKeybag() == keybag)
        // The record of the first does not pass for the clone's.
        try shell("cp '\(file)' '\(copy)/PasswordKeybag'")
        #expect(complaint { _ = try DeviceDirectory.open(at: copy).passwordKeybag() }?.kind == .damaged)
        try StoredDevice.erase(base.scratch.device)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try base.scratch.boot().backupPassword.keybag() == nil)
        try StoredDevice.delete(copy)
    }

    /// Makes the record another that is no keybag of the device, each in turn.
    private func eachDamage(of device: BootedDevice, _ body: (String) throws -> Void) throws {
        let (_, ring) = Keybag.create(passcode: nil, uidKey: UIDKey(), cost: PasscodeCost(level: 1)!)
        let forged = try PasswordKeybag.create(
            password: other, of: ring, proofs: SealedFileKey(UIDKey(), keybag: []),
            identifier: device.passcode.keybagIdentifier, level: 1)
        let whole = try Data(contentsOf: URL(filePath: file))
        let flipped = Data(whole.prefix(40) + [whole[40] ^ 1] + whole.dropFirst(41))
        let long = Data(count: 1 << 20)
        for (number, bytes) in [
            Data(forged.encoded()), whole.dropLast(), Data(), whole + [0], Data(whole.reversed()), flipped, long,
        ].enumerated() {
            try shell("rm -f '\(file)'")
            try bytes.write(to: URL(filePath: file))
            try body("bytes \(number)")
        }
        try whole.write(to: URL(filePath: base.scratch["elsewhere"]))
        for (name, script) in [
            ("a link", "ln -s '\(base.scratch["elsewhere"])' '\(file)'"), ("a fifo", "mkfifo '\(file)'"),
            ("a file of several names", "ln '\(base.scratch["elsewhere"])' '\(file)'"),
        ] {
            try shell("rm -f '\(file)'; \(script)")
            try body(name)
        }
        try shell("rm -f '\(file)'")
        try whole.write(to: URL(filePath: file))
    }

    @Test func `a damaged record is refused while the device is locked, and names the way out`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        lock(device)
        try eachDamage(of: device) { name in
            for refusal in [
                complaint { _ = try device.backupPassword.keybag(forBackupUnder: nil) },
                complaint { _ = try device.backupPassword.keybag(forBackupUnder: other) },
                complaint { try device.backupPassword.remove(other) },
                complaint { try device.backupPassword.change(from: password, to: other) },
                complaint { try device.backupPassword.set(other) },
            ] {
                #expect(refusal?.kind == .damaged, "\(name)")
                #expect(refusal?.message.contains("backup-password") == true, "\(name)")
                #expect(refusal?.message.contains("unlock") == true && refusal?.message.contains("\n") == false)
            }
            #expect(device.backupPassword.isSet)
        }
        try device.backupPassword.remove(password)
        #expect(!device.backupPassword.isSet)
    }

    @Test func `an unlocked device backs up in spite of a damaged record, and exchanges or removes it`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        try eachDamage(of: device) { name in
            #expect(device.backupPassword.isSet, "\(name)")
            #expect(try device.backupPassword.keybag(forBackupUnder: nil) == nil, "\(name)")
            #expect(try device.backupPassword.keybag(forBackupUnder: other) == nil, "\(name)")
            let record = DeviceCheck.Problem(
                container: "device", path: "PasswordKeybag",
                message: "is damaged; set another backup password, or remove it")
            #expect(try device.check().problems.contains(record), "\(name)")
            #expect(complaint { try device.backupPassword.change(from: password, to: other) }?.kind == .damaged)
            try device.backupPassword.set(other)
            #expect(try opens(device, other), "\(name)")
            #expect(try device.check().problems == [], "\(name)")
        }
        try eachDamage(of: device) { name in
            try device.backupPassword.remove([])
            #expect(!FileManager.default.fileExists(atPath: file) && !device.backupPassword.isSet, "\(name)")
        }
        // A record that is whole needs its password as before.
        #expect(complaint { try device.backupPassword.remove([]) }?.kind == .wrongPassword)
        #expect(complaint { try device.backupPassword.set(other) }?.kind == .backupPasswordState)
        try device.backupPassword.remove(password)
    }

    @Test func `a clone leaves a damaged record behind`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        try device.shutDown()
        device.release()
        try shell("rm '\(file)' && mkfifo '\(file)'")
        let copy = base.scratch["copy"]
        try StoredDevice.clone(base.scratch.device, to: copy)
        #expect(try DeviceDirectory.open(at: copy).passwordKeybag() == nil)
        #expect(!FileManager.default.fileExists(atPath: copy + "/PasswordKeybag"))
    }

    @Test func `an encrypted backup has the device's password`() throws {
        let device = try base.make()
        #expect(try device.backupPassword.keybag(forBackupUnder: other) == nil)
        try device.backupPassword.set(password)
        #expect(try device.backupPassword.keybag(forBackupUnder: password) != nil)
        #expect(try device.backupPassword.keybag(forBackupUnder: nil) != nil)
        #expect(complaint { _ = try device.backupPassword.keybag(forBackupUnder: other) }?.kind == .wrongPassword)
    }
}
