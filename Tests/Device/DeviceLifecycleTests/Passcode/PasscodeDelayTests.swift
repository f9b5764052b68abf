// Wrong passcodes: the first five are free, each further one has to wait, and nothing shortens the wait.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct PasscodeDelayTests {
    let scratch = Scratch()
    private let clock = TestClock()
    /// One wrong passcode that is given again counts once.
    private let guesses = WrongPasscodes()

    private func makeDevice() throws -> BootedDevice {
        try StoredDevice.create(at: scratch.device, passcode: Array("1234".utf8), costLevel: 1)
        return try boot()
    }

    private func boot() throws -> BootedDevice {
        let clock = clock
        return try BootedDevice.boot(at: scratch.device, report: { _ in }, reached: { _ in }, clock: { clock.instant })
    }

    /// The device's complaint about a passcode; nil if it was right.
    private func say(_ passcode: String, to device: BootedDevice) -> Complaint? {
        complaint { try device.passcode.unlock(Array(passcode.utf8)) }
    }

    private func fail(_ count: Int, on device: BootedDevice) {
        for _ in 0..<count { #expect(say(guesses.next(), to: device)?.kind == .wrongPasscode) }
    }

    @Test func `one wrong passcode that is given again counts once`() throws {
        let device = try makeDevice()
        for _ in 0..<7 { #expect(say("0000", to: device)?.message.contains("so far: 1") == true) }
        #expect(say("0001", to: device)?.message.contains("so far: 2") == true)
        // Only the last one is known.
        #expect(say("0000", to: device)?.message.contains("so far: 3") == true)
        #expect(say("1234", to: device) == nil)
        #expect(say("0000", to: device)?.message.contains("so far: 1") == true)
    }

    @Test func `five are free, then each waits 1, 5, 15, 60 minutes, and 60 from then on`() throws {
        let device = try makeDevice()
        for count in 1...4 {
            let said = say(guesses.next(), to: device)
            #expect(said?.kind == .wrongPasscode && said?.message.contains("(wrong attempts so far: \(count))") == true)
            #expect(said?.message.contains("minute") == false)
        }
        var count = 5
        for minutes: Int64 in [1, 5, 15, 60, 60, 60] {
            let words = minutes == 1 ? "1 minute" : "\(minutes) minutes"
            let wrong = say(guesses.next(), to: device)
            #expect(wrong?.kind == .wrongPasscode)
            #expect(wrong?.message.contains("(wrong attempts so far: \(count)); ") == true)
            #expect(wrong?.message.contains("right one in \(words)") == true)
            // Not even the right one is looked at, to the last nanosecond.
            let right = say("1234", to: device)
            #expect(right?.kind == .passcodeDelayed)
            #expect(right?.message.contains("(wrong attempts so far: \(count)); try again in \(words)") == true)
            clock.advance(seconds: minutes * 60)
            clock.advance(nanoseconds: -1)
            #expect(say("1234", to: device)?.message.contains("try again in 1 second") == true)
            #expect(!device.context.keys.isAvailable(.complete))
            clock.advance(nanoseconds: 1)
            count += 1
        }
        try device.passcode.unlock(Array("1234".utf8))
        #expect(try device.directory.passcodeAttempts() == nil)
        fail(5, on: device)
        #expect(say("1234", to: device)?.message.contains("try again in 1 minute") == true)
        clock.advance(seconds: 18)
        #expect(say("1234", to: device)?.message.contains("try again in 42 seconds") == true)
    }

    @Test func `one that waits is not counted`() throws {
        let device = try makeDevice()
        fail(5, on: device)
        for _ in 0..<3 { #expect(say(guesses.next(), to: device)?.kind == .passcodeDelayed) }
        #expect(try device.directory.passcodeAttempts()?.wrong == 5)
    }

    @Test func `a change and a removal are attempts like any other`() throws {
        let device = try makeDevice()
        let (wrong, right) = (Array("0000".utf8), Array("1234".utf8))
        fail(3, on: device)
        #expect(complaint { try device.passcode.change(from: wrong, to: right) }?.kind == .wrongPasscode)
        let fifth = complaint { try device.passcode.remove(Array("0001".utf8)) }
        #expect(fifth?.kind == .wrongPasscode && fifth?.message.contains("so far: 5") == true)
        #expect(complaint { try device.passcode.change(from: right, to: wrong) }?.kind == .passcodeDelayed)
        #expect(complaint { try device.passcode.remove(right) }?.kind == .passcodeDelayed)
        clock.advance(seconds: 60)
        try device.passcode.change(from: right, to: wrong)
        #expect(try device.directory.passcodeAttempts() == nil)
    }

    @Test func `a new process goes on counting, and the wait goes on`() throws {
        do { fail(5, on: try makeDevice()) }
        clock.advance(seconds: 20)
        do { #expect(say("1234", to: try boot())?.message.contains("try again in 40 seconds") == true) }
        clock.advance(seconds: 40)
        let device = try boot()
        #expect(say(guesses.next(), to: device)?.message.contains("so far: 6") == true)
    }

    @Test func `after a boot of the host the whole wait begins anew, once, at the first look`() throws {
        do { fail(1, on: try makeDevice().waited(clock, 60)) }
        clock.bootHost(at: 30)
        do { _ = try boot() }
        clock.advance(seconds: 299)
        do { #expect(say("1234", to: try boot())?.message.contains("try again in 1 second") == true) }
        clock.advance(seconds: 1)
        do { #expect(say("1234", to: try boot()) == nil) }
        // Free attempts stay counted, and free.
        do { fail(4, on: try boot()) }
        clock.bootHost(at: 1)
        #expect(say(guesses.next(), to: try boot())?.message.contains("so far: 5") == true)
    }

    @Test func `an instant that lies ahead, as in a copied record, begins the wait anew and no more`() throws {
        do { fail(5, on: try makeDevice()) }
        clock.advance(seconds: -500)
        let device = try boot()
        #expect(say("1234", to: device)?.message.contains("try again in 1 minute") == true)
        clock.advance(seconds: 60)
        #expect(say("1234", to: device) == nil)
    }

    @Test func `the instant is of the clock that counts from the host's boot`() throws {
        let (before, boot) = (try HostInstant.now(), try shell("cat /proc/sys/kernel/random/boot_id"))
        #expect(before.bootID + "\n" == boot)
        let uptime = try #require(Double(try shell("cut -d' ' -f1 /proc/uptime").dropLast()))
        #expect(abs(Double(before.nanoseconds) / 1e9 - uptime) < 10)
        #expect(try HostInstant.now().nanoseconds > before.nanoseconds)
    }

    @Test func `an attempt whose process is killed is a wrong one`() async throws {
        do { try makeDevice().shutDown() }
        for count in 1...5 {
            let path = scratch.device
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let device = try BootedDevice.boot(
                    at: path, report: { _ in }, reached: { if $0 == .countedAttempt { kill(getpid(), SIGKILL) } })
                try device.passcode.unlock(Array("1234".utf8))
            }
            #expect(try DeviceDirectory.open(at: path).passcodeAttempts()?.wrong == count)
        }
        let device = try scratch.boot()
        #expect(say("1234", to: device)?.kind == .passcodeDelayed)
    }

    @Test func `many at once are let in one after the other: no more than five`() throws {
        let device = try makeDevice()
        let kinds = Mutex<[Complaint.Kind]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            let said = say(guesses.next(), to: device)
            kinds.withLock { $0.append(said?.kind ?? .unexpected) }
        }
        #expect(kinds.withLock { $0.count { $0 == .wrongPasscode } } == 5)
        #expect(kinds.withLock { $0.count { $0 == .passcodeDelayed } } == 11)
        #expect(try device.directory.passcodeAttempts()?.wrong == 5)
    }

    @Test(arguments: [
        "", "{", #"{"wrong":0,"bootID":"a","nanoseconds":1}"#, #"{"wrong":-1,"bootID":"a","nanoseconds":1}"#,
        #"{"wrong":3}"#, #"{"wrong":1e30,"bootID":"a","nanoseconds":1}"#, "\0\0\0\0",
        #"{"wrong":9,"bootID":"a","nanoseconds":-9223372036854775808}"#,
    ])
    func `a record that cannot be read gives no guess`(text: String) throws {
        let device = try makeDevice()
        try Data(text.utf8).write(to: URL(filePath: scratch["device/Passcode.json"]))
        let said = say("1234", to: device)
        #expect(said?.kind == .damaged && said?.message.contains("Passcode.json is damaged") == true)
        #expect(complaint { try device.passcode.remove(Array("1234".utf8)) }?.kind == .damaged)
        #expect(try shell("cat '\(scratch.device)/Passcode.json' | tr -d '\\0'") == text.filter { $0 != "\0" })
    }

    @Test func `a count has an end that nobody overruns`() throws {
        let device = try makeDevice()
        let most = PasscodeAttempts(wrong: .max, at: clock.instant)
        try device.directory.replacePasscodeAttempts(with: most, holding: device.lock)
        clock.advance(seconds: 3600)
        #expect(say(guesses.next(), to: device)?.kind == .wrongPasscode)
        #expect(say("1234", to: device)?.kind == .passcodeDelayed)
    }

    @Test func `a clone is no new set of guesses, an erased device is`() throws {
        do {
            let device = try makeDevice()
            fail(5, on: device)
            try device.shutDown()
        }
        try StoredDevice.clone(scratch.device, to: scratch["copy"])
        let clock = clock
        do {
            let copy = try BootedDevice.boot(
                at: scratch["copy"], report: { _ in }, reached: { _ in }, clock: { clock.instant })
            #expect(say("1234", to: copy)?.kind == .passcodeDelayed)
        }
        try StoredDevice.erase(scratch.device)
        #expect(try DeviceDirectory.open(at: scratch.device).passcodeAttempts() == nil)
        try StoredDevice.delete(scratch["copy"])
        #expect(scratch.names == ["device"])
        let device = try boot()
        try device.passcode.set(Array("1234".utf8))
        fail(5, on: device)
    }

    @Test func `a clone of a device without wrong attempts has no record of any`() throws {
        do { try makeDevice().shutDown() }
        try StoredDevice.clone(scratch.device, to: scratch["copy"])
        #expect(try shell("ls '\(scratch["copy"])'").contains("Passcode.json") == false)
    }
}

/// A clock that a test moves.
private final class TestClock: Sendable {
    private let state = Mutex((boot: 1, nanoseconds: Int64(1_000_000_000_000)))

    var instant: HostInstant {
        state.withLock { HostInstant(bootID: "boot \($0.boot)", nanoseconds: $0.nanoseconds) }
    }

    func advance(seconds: Int64) { advance(nanoseconds: seconds * 1_000_000_000) }

    func advance(nanoseconds: Int64) { state.withLock { $0.nanoseconds += nanoseconds } }

    func bootHost(at seconds: Int64) {
        state.withLock { $0 = (boot: $0.boot + 1, nanoseconds: seconds * 1_000_000_000) }
    }
}

extension BootedDevice {
    /// After five wrong passcodes and the wait that follows them.
    fileprivate func waited(_ clock: TestClock, _ seconds: Int64) throws -> BootedDevice {
        for guess in 1...5 { #expect(complaint { try passcode.unlock(Array("guess \(guess)".utf8)) } != nil) }
        clock.advance(seconds: seconds)
        return self
    }
}

/// Passcodes of which none is right, and none comes twice.
private final class WrongPasscodes: Sendable {
    private let count = Mutex(0)

    func next() -> String {
        count.withLock { count in
            count += 1
            return "wrong \(count)"
        }
    }
}
