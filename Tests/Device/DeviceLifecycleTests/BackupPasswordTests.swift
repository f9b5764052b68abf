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

    @Test func `a forged, cut or exchanged record is refused, and no backup is made with it`() throws {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        let (_, ring) = Keybag.create(passcode: nil, uidKey: UIDKey(), cost: PasscodeCost(level: 1)!)
        let forged = try PasswordKeybag.create(
            password: other, of: ring, proofs: SealedFileKey(UIDKey(), keybag: []),
            identifier: device.passcode.keybagIdentifier, level: 1)
        let whole = try Data(contentsOf: URL(filePath: file))
        for bytes in [Data(forged.encoded()), whole.dropLast(), Data(), whole + [0], Data(whole.reversed())] {
            try bytes.write(to: URL(filePath: file))
            #expect(complaint { _ = try device.backupPassword.keybag(forBackupUnder: nil) }?.kind == .damaged)
            #expect(complaint { try device.backupPassword.remove(other) }?.kind == .damaged)
            #expect(complaint { try device.backupPassword.set(other) }?.kind == .damaged)
        }
        try whole.write(to: URL(filePath: file))
        try device.backupPassword.remove(password)
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
