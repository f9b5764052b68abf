// A device from its making to its end: passcode, boot, one process at a time.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct DeviceTests {
    let scratch = Scratch()

    @Test func `without a passcode a device is always unlocked`() throws {
        let device = try scratch.makeDevice()
        #expect(!device.hasPasscode)
        #expect(device.deviceState == .unlocked)
        try device.passcode.unlock([1])
        for protection in ProtectionClass.allCases { #expect(device.context.keys.isAvailable(protection)) }
    }

    @Test func `with a passcode a device boots before first unlock`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        #expect(device.hasPasscode)
        #expect(device.deviceState == .beforeFirstUnlock)
        #expect(complaint { try device.passcode.unlock(Array("1235".utf8)) }?.kind == .wrongPasscode)
        #expect(device.deviceState == .beforeFirstUnlock)
        try device.open("1234")
        #expect(device.deviceState == .unlocked)
    }

    @Test func `a served device is busy, a shut down one is not`() throws {
        do {
            let device = try scratch.makeDevice()
            #expect(device.session.number == 1)
            #expect(complaint { _ = try scratch.boot() }?.kind == .deviceBusy)
            #expect(complaint { try StoredDevice.erase(scratch.device) }?.kind == .deviceBusy)
            #expect(complaint { try StoredDevice.delete(scratch.device) }?.kind == .deviceBusy)
            #expect(complaint { try StoredDevice.clone(scratch.device, to: scratch["copy"]) }?.kind == .deviceBusy)
            try device.shutDown()
        }
        do {
            let device = try scratch.boot()
            #expect(device.session.number == 2)
            #expect(device.session.start == .clean)
        }
        let device = try scratch.boot()
        #expect(device.session.start == .afterKill)
        #expect(device.session.killed == [2])
    }

    @Test func `a device whose keys are gone is left as it is`() throws {
        do { _ = try scratch.makeDevice() }
        try shell("mkdir '\(scratch.device)/Staging/x'; head -c 32 /dev/urandom > '\(scratch.device)/UID.key'")
        #expect(complaint { _ = try scratch.boot() }?.kind == .damaged)
        try shell("truncate -s 5 '\(scratch.device)/UID.key'")
        #expect(complaint { _ = try scratch.boot() }?.kind == .damaged)
        try shell("rm '\(scratch.device)/Keybag'; test -d '\(scratch.device)/Staging/x'")
        #expect(complaint { _ = try scratch.boot() }?.kind == .damaged)
    }

    @Test func `an erased device has no passcode and no apps`() throws {
        do {
            let device = try scratch.makeDevice(passcode: "1234")
            _ = try device.install(sampleApp)
            try device.shutDown()
        }
        try StoredDevice.erase(scratch.device)
        let device = try scratch.boot()
        #expect(device.deviceState == .unlocked)
        #expect(device.apps == [])
        _ = try device.install(sampleApp)
    }

    @Test func `a clone opens with the same passcode and has the same content`() throws {
        do {
            let device = try scratch.makeDevice(passcode: "1234")
            try device.open("1234")
            _ = try device.install(sampleApp)
            try shell("echo hello > \(scratch["mail.txt"])")
            _ = try device.deliver([scratch["mail.txt"]], to: id("com.example.Notes"))
            try device.shutDown()
        }
        try StoredDevice.clone(scratch.device, to: scratch["copy"])
        let copy = try BootedDevice.boot(at: scratch["copy"], report: { _ in })
        try copy.open("1234")
        let data = try copy.backingPath(of: id("com.example.Notes"), .data)
        #expect(data.hasPrefix(scratch["copy/"]))
        #expect(try copy.text(of: data + "/Documents/Inbox/mail.txt") == "hello\n")
    }

    @Test func `a passcode is the first line of its file`() throws {
        let file = scratch["passcode"]
        for (content, passcode) in [("1234", "1234"), ("12 34\nx", "12 34"), ("pässwort\r\n", "pässwort")] {
            try Data(content.utf8).write(to: URL(filePath: file))
            #expect(try PasscodeFile.passcode(inFile: file) == Array(passcode.utf8))
        }
        try Data("\n1234".utf8).write(to: URL(filePath: file))
        #expect(complaint { _ = try PasscodeFile.passcode(inFile: file) }?.kind == .invalidPasscode)
        #expect(complaint { _ = try PasscodeFile.passcode(inFile: scratch["none"]) }?.kind == .notFound)
        #expect(
            complaint { try StoredDevice.create(at: scratch.device, passcode: [1], costLevel: 99) }?.kind == .badRequest
        )
    }
}
