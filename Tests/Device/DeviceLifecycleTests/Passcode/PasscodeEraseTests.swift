// Ten wrong passcodes erase a device that is set so, whenever its process ends.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct PasscodeEraseTests {
    let scratch = Scratch()
    private let right = Array("1234".utf8)

    private func makeDevice(wrong: Int) throws -> BootedDevice {
        try StoredDevice.create(at: scratch.device, passcode: right, costLevel: 1)
        let device = try scratch.boot()
        _ = try device.install(sampleApp)
        try device.passcode.change(from: right, to: right, eraseAfterTen: true)
        try count(wrong, on: device)
        return device
    }

    /// So many wrong passcodes, of which the last is none that a test gives, and the wait after them is over.
    private func count(_ wrong: Int, on device: BootedDevice) throws {
        let now = try HostInstant.now()
        let past = HostInstant(bootID: now.bootID, nanoseconds: max(0, now.nanoseconds - 3600 * 1_000_000_000))
        let attempts = PasscodeAttempts(wrong: wrong, at: past, lastWrong: "none")
        try device.directory.replacePasscodeAttempts(with: attempts, holding: device.lock)
    }

    private func isAsNew(_ device: BootedDevice) throws -> Bool {
        try !device.hasPasscode && device.apps.isEmpty && device.deviceState == .unlocked
            && device.directory.passcodeAttempts() == nil && device.directory.settings.eraseAfterTen == true
    }

    /// Boots with a clock that is an hour ahead, so that a wait is over whenever this host was booted.
    private func bootLater() throws -> BootedDevice {
        try BootedDevice.boot(
            at: scratch.device, report: { _ in }, reached: { _ in },
            clock: { () throws(Complaint) in try HostInstant.now().later(by: 7200 * 1_000_000_000) })
    }

    // S-LOCK-13
    @Test func `the tenth wrong passcode decides, and from then on none is looked at`() throws {
        do { try makeDevice(wrong: 9).shutDown() }
        let before = try Data(contentsOf: URL(filePath: scratch["device/UID.key"]))
        do {
            let device = try bootLater()
            #expect(!device.wasErased)
            let tenth = complaint { try device.passcode.unlock(Array("0000".utf8)) }
            #expect(tenth?.kind == .deviceErased && tenth?.message.contains("is erased") == true)
            #expect(complaint { try device.passcode.unlock(right) }?.kind == .deviceErased)
            let change = complaint { try device.passcode.change(from: right, to: right, eraseAfterTen: false) }
            #expect(change?.kind == .deviceErased)
            #expect(!device.context.keys.isAvailable(.complete))
            try device.shutDown()
            try device.eraseAfterAttempts()
        }
        let device = try scratch.boot()
        #expect(try isAsNew(device) && !device.wasErased)
        #expect(try Data(contentsOf: URL(filePath: scratch["device/UID.key"])) != before)
        _ = try device.install(sampleApp)
    }

    @Test func `nine are no ten, nor is the ninth again, and the right one is the right one`() throws {
        do { try makeDevice(wrong: 8).shutDown() }
        do {
            let device = try bootLater()
            let ninth = complaint { try device.passcode.unlock(Array("0000".utf8)) }
            #expect(ninth?.kind == .wrongPasscode && ninth?.message.contains("so far: 9") == true)
            try count(9, on: device)
            try device.passcode.unlock(right)
            #expect(try device.directory.passcodeAttempts() == nil)
        }
        #expect(try scratch.boot().hasPasscode)
    }

    @Test func `where it is turned off, a tenth is wrong and no more`() throws {
        do {
            let device = try makeDevice(wrong: 1)
            try device.passcode.change(from: right, to: right, eraseAfterTen: false)
            try count(9, on: device)
            try device.shutDown()
        }
        let device = try bootLater()
        #expect(complaint { try device.passcode.unlock(Array("0000".utf8)) }?.kind == .wrongPasscode)
        #expect(try device.directory.passcodeAttempts()?.wrong == 10)
        try device.shutDown()
        device.release()
        #expect(try !scratch.boot().wasErased)
    }

    @Test(arguments: [Milestone.countedAttempt, .decidedErase])
    func `killed at the tenth, the next boot erases`(step: Milestone) async throws {
        do { try makeDevice(wrong: 9).shutDown() }
        let (path, name) = (scratch.device, step.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, name = name as String] in
            let device = try BootedDevice.boot(
                at: path, report: { _ in }, reached: { if $0.rawValue == name { kill(getpid(), SIGKILL) } },
                clock: { () throws(Complaint) in try HostInstant.now().later(by: 7200 * 1_000_000_000) })
            try device.passcode.unlock(Array("0000".utf8))
        }
        let device = try scratch.boot()
        #expect(try device.wasErased && isAsNew(device))
    }

    @Test func `a device whose passcode was removed is not erased by the count that is left`() throws {
        do {
            let device = try makeDevice(wrong: 1)
            try device.passcode.remove(right)
            try count(10, on: device)
            try device.shutDown()
        }
        let device = try scratch.boot()
        #expect(!device.wasErased && device.apps.count == 1)
        try device.passcode.set(right)
        #expect(try device.directory.passcodeAttempts() == nil)
    }

    @Test func `an older version refuses a device that is set so`() throws {
        do { try makeDevice(wrong: 1).shutDown() }
        #expect(
            try String(contentsOf: URL(filePath: scratch["device/Device.json"]), encoding: .utf8).contains(
                #""format" : 4"#))
    }
}
