// Setting, changing and removing the passcode, and what a kill in the middle leaves.

import BackingStore
import DataProtection
import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct PasscodeTests {
    let scratch = Scratch()
    private let old = Array("1234".utf8)
    private let new = Array("geheim".utf8)

    private func isFull(_ device: BootedDevice) -> Bool {
        ProtectionClass.allCases.allSatisfy { device.context.keys.isAvailable($0) }
    }

    @Test func `a passcode that is set leaves the device unlocked until its next boot`() throws {
        do {
            let device = try scratch.makeDevice()
            try device.passcode.set(old)
            #expect(device.hasPasscode && device.deviceState == .unlocked && isFull(device))
            let again = complaint { try device.passcode.set(new) }
            #expect(
                again?.kind == .passcodeExists && again?.message.contains("passcode \(scratch.device) change") == true)
        }
        let device = try scratch.boot()
        #expect(device.deviceState == .beforeFirstUnlock)
        #expect(complaint { try device.passcode.unlock(new) }?.kind == .wrongPasscode)
        try device.passcode.unlock(old)
        #expect(isFull(device))
    }

    @Test func `a change leaves the state as it was, locked or unlocked`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        try device.passcode.change(from: old, to: new)
        #expect(device.deviceState == .beforeFirstUnlock)
        #expect(complaint { try device.passcode.unlock(old) }?.kind == .wrongPasscode)
        try device.open("geheim")
        #expect(complaint { try device.passcode.change(from: old, to: old) }?.kind == .wrongPasscode)
        try device.passcode.change(from: new, to: old)
        #expect(device.deviceState == .unlocked && isFull(device))
    }

    @Test func `a removal unlocks the device for good, whatever its state was`() throws {
        do {
            let device = try scratch.makeDevice(passcode: "1234")
            #expect(complaint { try device.passcode.remove(new) }?.kind == .wrongPasscode)
            #expect(device.hasPasscode && !isFull(device))
            try device.passcode.remove(old)
            // The state that the policy is asked with is the caller's to set.
            #expect(!device.hasPasscode && isFull(device))
            #expect(complaint { try device.passcode.remove(old) }?.kind == .noPasscode)
            #expect(complaint { try device.passcode.change(from: old, to: new) }?.kind == .noPasscode)
        }
        #expect(try scratch.boot().deviceState == .unlocked)
    }

    @Test func `files made under one passcode open under every later one`() throws {
        let device = try scratch.makeDevice()
        let files = try ProtectionClass.allCases.map { try device.context.keys.makeFileKey($0).1 }
        try device.passcode.set(old)
        try device.passcode.change(from: old, to: new)
        device.forgetAsAfterBoot()
        try device.passcode.remove(new)
        for file in files { _ = try device.context.keys.unwrap(file) }
    }

    @Test func `a new passcode is one line that is not empty`() throws {
        let device = try scratch.makeDevice()
        for text in ["", "12\n34", "1234\n", "1234\r"] {
            #expect(complaint { try device.passcode.set(Array(text.utf8)) }?.kind == .invalidPasscode, "\(text)")
            #expect(complaint { try device.passcode.change(from: old, to: Array(text.utf8)) }?.kind == .invalidPasscode)
        }
        #expect(complaint { try StoredDevice.create(at: scratch["empty"], passcode: []) }?.kind == .invalidPasscode)
        try device.passcode.set(Array("пароль 🔑".utf8))
    }

    @Test(arguments: Milestone.passcodeSteps)
    func `killed while the passcode changes, the old or the new one opens the device`(step: Milestone) async throws {
        do { try scratch.makeDevice(passcode: "1234").shutDown() }
        let (path, name) = (scratch.device, step.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, name = name as String] in
            let device = try BootedDevice.boot(
                at: path, report: { _ in }, reached: { if $0.rawValue == name { kill(getpid(), SIGKILL) } })
            try device.passcode.change(from: Array("1234".utf8), to: Array("geheim".utf8))
        }
        let device = try scratch.boot()
        let (right, wrong) = step == .replacedKeybag ? (new, old) : (old, new)
        #expect(complaint { try device.passcode.unlock(wrong) }?.kind == .wrongPasscode)
        // Until the count was taken back, an attempt is one that was wrong.
        let counted = [.countedAttempt, .provedPasscode].contains(step)
        #expect(try device.directory.passcodeAttempts()?.wrong == (counted ? 2 : 1))
        try device.passcode.unlock(right)
        #expect(try device.directory.passcodeAttempts() == nil)
    }

    @Test(arguments: Milestone.passcodeSteps)
    func `killed while the passcode is removed, it is there or it is not`(step: Milestone) async throws {
        do { try scratch.makeDevice(passcode: "1234").shutDown() }
        let (path, name) = (scratch.device, step.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, name = name as String] in
            let device = try BootedDevice.boot(
                at: path, report: { _ in }, reached: { if $0.rawValue == name { kill(getpid(), SIGKILL) } })
            try device.passcode.remove(Array("1234".utf8))
        }
        let device = try scratch.boot()
        #expect(device.hasPasscode == (step != .replacedKeybag))
        try device.passcode.unlock(old)
        #expect(isFull(device))
    }

    // MARK: Damage

    /// Ways to spoil the keys of a device: a line of shell in its directory, and a word of what is said.
    static let spoilt = [
        ("truncate -s 200 Keybag", "Keybag is cut short"), (": > Keybag", "Keybag is cut short"),
        (
            #"python3 -c "b = bytearray(open('Keybag', 'rb').read()); b[100] ^= 1; open('Keybag', 'wb').write(b)""#,
            "Keybag is damaged"
        ),
        ("cp ../other/Keybag Keybag", "Keybag is another device's"), ("rm Keybag", "Keybag is missing"),
        ("cp ../other/UID.key UID.key", "is another device's"),
        ("truncate -s 31 UID.key", "UID.key is damaged, and no file of the device can ever be read again without it"),
        ("rm UID.key", "UID.key is missing, and no file of the device can ever be read again without it"),
        (
            #"""
            python3 -c "
            import hashlib
            b = bytearray(open('Keybag', 'rb').read()[:-24]); b[8] = 3
            open('Keybag', 'wb').write(b + hashlib.sha256(b).digest()[:24])"
            """#, "Keybag was made by a newer version (format 3)"
        ),
    ]

    @Test(arguments: spoilt)
    func `damaged keys are named, and nothing is written over them`(line: String, words: String) throws {
        try StoredDevice.create(at: scratch["other"], passcode: old, costLevel: 1)
        let device = try scratch.makeDevice(passcode: "1234")
        try shell("cd '\(scratch.device)' && \(line)")
        let state = "cd '\(scratch.device)' && ls -A && cat Keybag UID.key 2>&1 | sha256sum"
        let before = try shell(state)
        let calls: [() throws -> Void] = [
            { try device.passcode.unlock(old) }, { try device.passcode.set(new) }, { try device.passcode.remove(old) },
            { try device.passcode.change(from: old, to: new) }, { _ = try device.directory.openKeybag() },
        ]
        for call in calls {
            let said = complaint { try call() }
            #expect(said?.message.contains(words) == true, "\(said?.message ?? "nothing")")
            #expect(said?.kind == (words.contains("newer") ? .newerFormat : .damaged))
        }
        #expect(!device.context.keys.isAvailable(.complete))
        #expect(try shell(state) == before)
    }

    @Test(arguments: spoilt)
    func `a device with damaged keys does not boot, and is left as it is`(line: String, words: String) throws {
        try StoredDevice.create(at: scratch["other"], passcode: old, costLevel: 1)
        do { try scratch.makeDevice(passcode: "1234").shutDown() }
        try shell("cd '\(scratch.device)' && \(line)")
        let state = "cd '\(scratch.device)' && ls -A && cat Keybag UID.key Sessions.json 2>&1 | sha256sum"
        let before = try shell(state)
        #expect(complaint { _ = try scratch.boot() }?.message.contains(words) == true)
        #expect(try shell(state) == before)
    }

    @Test func `a passcode file that cannot be read is named`() throws {
        let directory = complaint { _ = try PasscodeFile.passcode(inFile: scratch.path) }
        #expect(directory?.kind == .invalidPasscode && directory?.message.contains("is a directory") == true)
        #expect(complaint { _ = try PasscodeFile.passcode(inFile: "/dev/zero") } != nil)
    }

    @Test func `the grace period is kept, and erased with nothing else`() throws {
        for seconds in [-1, 86_401, .infinity, .nan] {
            let said = complaint { try StoredDevice.create(at: scratch.device, lockGrace: seconds) }
            #expect(said?.kind == .badRequest, "\(seconds)")
        }
        for (given, kept) in [(nil, 10), (0, 0), (0.5, 0.5), (86_400, 86_400)] as [(Double?, Double)] {
            let path = scratch["device \(kept)"]
            try StoredDevice.create(at: path, costLevel: 2, lockGrace: given)
            try StoredDevice.erase(path)
            let settings = try DeviceDirectory.open(at: path).settings
            #expect(settings == DeviceSettings(keyDerivationCost: 2, lockGrace: given))
            #expect(settings.lockGraceSeconds == kept)
        }
        try StoredDevice.create(at: scratch.device, lockGrace: 7)
        try shell("sed -i 's/: 7/: -7/' '\(scratch.device)/Device.json'")
        #expect(complaint { _ = try DeviceDirectory.open(at: scratch.device) }?.kind == .damaged)
    }
}

extension Milestone {
    static let passcodeSteps: [Milestone] = [.countedAttempt, .provedPasscode, .clearedAttempts, .replacedKeybag]
}
