// Lock, unlock, restart and passcode of a device that nothing is mounted of: who waits, who cancels, what is told.

import AppContainer
import BackingStore
import ContainerVolume
import DataProtection
import DeviceLifecycle
import Foundation
import Logging
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// A device with a cheap passcode, served by its ``LockController`` alone.
private final class ProtectedDevice: Sendable {
    let scratch = Scratch()
    let device: BootedDevice
    let locking: LockController
    let timers = ManualTimers()
    private let told = Mutex<[String]>([])
    private let onNews: Mutex<(@Sendable (String) -> Void)?>

    /// - Parameter grace: in seconds.
    init(
        passcode: String? = "1234", grace: Double = 0.2, unlocked: Bool = true,
        onNews: (@Sendable (String) -> Void)? = nil
    ) throws {
        let path = scratch["device"]
        self.onNews = Mutex(onNews)
        try StoredDevice.create(
            at: path, passcode: passcode.map { Array($0.utf8) }, costLevel: 1, lockGrace: grace)
        device = try BootedDevice.boot(at: path) { Issue.record("corrupt: \($0)") }
        let events = EventLog(device: path)
        let mounts = try Mounts(
            device: device, socket: scratch["private"],
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, events: events)
        let news = Told()
        locking = LockController(device: device, mounts: mounts, timers: timers.timers) { news.add($0) }
        news.owner.withLock { $0 = self.hear }
        if unlocked, let passcode {
            try locking.unlock(passcode: passcode)
            told.withLock { $0 = [] }
        }
    }

    /// Reaches the fixture once it is there.
    private final class Told: Sendable {
        let owner = Mutex<(@Sendable (String) -> Void)?>(nil)
        func add(_ news: LockController.Change) {
            let text = "\(news)"
            owner.withLock { $0 }?(text)
        }
    }

    private var hear: @Sendable (String) -> Void {
        { [weak self] text in
            self?.told.withLock { $0.append(text) }
            self?.onNews.withLock { $0 }?(text)
        }
    }

    /// Changes since the last call.
    var news: [String] {
        told.withLock { told in
            defer { told = [] }
            return told
        }
    }

    var state: DeviceState { device.deviceState }
    var hasKeys: Bool { device.context.keys.isAvailable(.complete) }

    /// Begins a call that may wait.
    func begin(_ body: @escaping @Sendable () async throws(Complaint) -> Void) -> Call { Call(body) }

    /// Begins a lock with a grace period, and returns when it waits beside `others`.
    func beginLock(beside others: Int = 0) async -> Call {
        let call = begin { [locking] () async throws(Complaint) in try await locking.lock(now: false, waits: true) }
        while locking.waiting <= others { await Task.yield() }
        return call
    }
}

/// A call in a task of its own.
private final class Call: Sendable {
    private let task: Task<String, Never>

    init(_ body: @escaping @Sendable () async throws(Complaint) -> Void) {
        let ended = Ended()
        self.ended = ended
        task = Task {
            defer { ended.flag.store(true, ordering: .sequentiallyConsistent) }
            do throws(Complaint) {
                try await body()
                return "done"
            } catch {
                return error.kind.rawValue
            }
        }
    }

    private final class Ended: Sendable {
        let flag = Atomic(false)
    }
    private let ended: Ended

    var isOver: Bool { ended.flag.load(ordering: .sequentiallyConsistent) }
    /// "done", or the kind of its complaint.
    func wait() async -> String { await task.value }
}

@Suite("Lock, unlock and restart", .serialized)
struct LockControllerTests {
    private func kind(_ body: () throws -> Void) -> Complaint.Kind? { complaint(body)?.kind }

    /// Long enough that a test is over before it ends.
    private let long = 600.0

    @Test func `a lock is announced, waits the grace period out, and returns when the keys are gone`() async throws {
        let device = try ProtectedDevice(grace: 0.3)
        let lock = await device.beginLock()
        #expect(device.state == .locking && device.locking.graceRemaining == 0.3)
        device.timers.advance(by: .milliseconds(299))
        #expect(device.state == .locking && device.hasKeys && !lock.isOver)
        #expect(device.locking.graceRemaining.map { $0 > 0 && $0 < 0.002 } == true)
        device.timers.advance(by: .milliseconds(1))
        #expect(await lock.wait() == "done")
        #expect(device.state == .locked && !device.hasKeys && device.locking.graceRemaining == nil)
        #expect(device.device.context.keys.isAvailable(.completeUntilFirstUserAuthentication))
        #expect(device.news == ["willBecomeUnavailable", "locked"])
        try device.locking.unlock(passcode: "1234")
        #expect(device.state == .unlocked && device.hasKeys)
        #expect(device.news == ["unlocked", "didBecomeAvailable"])
    }

    @Test func `without a grace period, and with now, it locks at once`() async throws {
        for (grace, now) in [(0.0, false), (long, true)] {
            let device = try ProtectedDevice(grace: grace)
            try await device.locking.lock(now: now, waits: true)
            #expect(device.state == .locked && !device.hasKeys)
            #expect(device.news == ["willBecomeUnavailable", "locked"])
        }
    }

    @Test func `no-wait returns when the lock is announced`() async throws {
        let device = try ProtectedDevice(grace: 0.1)
        try await device.locking.lock(now: false, waits: false)
        #expect(device.state == .locking)
        #expect(device.news == ["willBecomeUnavailable"])
        device.timers.advance(by: .milliseconds(100))
        #expect(device.state == .locked && !device.hasKeys)
    }

    @Test func `an unlock during the grace period cancels the lock, for all who wait for it`() async throws {
        let device = try ProtectedDevice(grace: 0.4)
        var locks: [Call] = []
        for others in 0..<3 { locks.append(await device.beginLock(beside: others)) }
        device.timers.advance(by: .milliseconds(150))
        try device.locking.unlock(passcode: "1234")
        for lock in locks { #expect(await lock.wait() == "lockCancelled") }
        #expect(device.news == ["willBecomeUnavailable", "didBecomeAvailable"], "it was never locked")
        // Its time comes, and nothing happens.
        device.timers.advance(by: .milliseconds(400))
        #expect(device.state == .unlocked && device.hasKeys && device.locking.graceRemaining == nil)
        #expect(device.news == [])
    }

    @Test func `a hundred locks that wait hold no thread, and an unlock is not behind them`() async throws {
        func threads() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
        let device = try ProtectedDevice(grace: long)
        try await device.locking.lock(now: false, waits: false)
        let before = try threads()
        let locks = (0..<100).map { _ in
            device.begin { () async throws(Complaint) in try await device.locking.lock(now: false, waits: true) }
        }
        while device.locking.waiting < 100 { await Task.yield() }
        #expect(try threads() < before + 20)
        try device.locking.unlock(passcode: "1234")
        for lock in locks { #expect(await lock.wait() == "lockCancelled") }
        #expect(device.locking.waiting == 0)
    }

    @Test func `a request whose client goes does not wait on`() async throws {
        let device = try ProtectedDevice(grace: long)
        let lock = Task { try? await device.locking.lock(now: false, waits: true) }
        while device.locking.waiting < 1 { await Task.yield() }
        lock.cancel()
        await lock.value
        #expect(device.locking.waiting == 0 && device.state == .locking, "the lock itself goes on")
    }

    @Test func `a lock after a cancelled one has a grace period of its own`() async throws {
        let device = try ProtectedDevice(grace: 0.3)
        try await device.locking.lock(now: false, waits: false)
        device.timers.advance(by: .milliseconds(200))
        try device.locking.unlock(passcode: "1234")
        try await device.locking.lock(now: false, waits: false)
        device.timers.advance(by: .milliseconds(200))
        #expect(device.state == .locking, "the first one's time must not end the second")
        device.timers.advance(by: .milliseconds(100))
        #expect(device.state == .locked)
        #expect(device.news.filter { $0 == "locked" }.count == 1)
    }

    @Test func `a wrong passcode cancels nothing`() async throws {
        let device = try ProtectedDevice(grace: 0.3)
        let lock = await device.beginLock()
        #expect(kind { try device.locking.unlock(passcode: "4321") } == .wrongPasscode)
        #expect(device.state == .locking)
        device.timers.advance(by: .milliseconds(300))
        #expect(await lock.wait() == "done")
        #expect(kind { try device.locking.unlock(passcode: "4321") } == .wrongPasscode)
        #expect(device.state == .locked && !device.hasKeys)
        #expect(device.news == ["willBecomeUnavailable", "locked"])
    }

    @Test func `a second lock joins the first and does not put it off`() async throws {
        let device = try ProtectedDevice(grace: 0.3)
        let first = await device.beginLock()
        device.timers.advance(by: .milliseconds(200))
        let second = await device.beginLock(beside: 1)
        device.timers.advance(by: .milliseconds(99))
        #expect(!first.isOver && !second.isOver)
        device.timers.advance(by: .milliseconds(1))
        #expect(await first.wait() == "done")
        #expect(await second.wait() == "done")
        #expect(device.news == ["willBecomeUnavailable", "locked"])
        // Locked, there is nothing to do.
        try await device.locking.lock(now: false, waits: true)
        try await device.locking.lock(now: true, waits: true)
        #expect(device.news == [])
    }

    @Test func `now ends a grace period, and all who wait for it return`() async throws {
        let device = try ProtectedDevice(grace: long)
        let first = await device.beginLock()
        try await device.locking.lock(now: true, waits: true)
        #expect(device.state == .locked && !device.hasKeys)
        #expect(await first.wait() == "done")
        #expect(device.news == ["willBecomeUnavailable", "locked"])
    }

    @Test func `a lock that is asked for while the keys are being taken returns when they are gone`() async throws {
        let inside = Monitor(false)
        let mayGoOn = Monitor(false)
        let device = try ProtectedDevice(grace: 0) { news in
            guard news == "locked" else { return }
            inside.access { $0 = true }
            mayGoOn.wait { $0 ? () : nil }
        }
        let first = device.begin { () async throws(Complaint) in try await device.locking.lock(now: true, waits: true) }
        while !inside.access({ $0 }) { await Task.yield() }
        let later = [false, true].map { now in
            device.begin { () async throws(Complaint) in try await device.locking.lock(now: now, waits: true) }
        }
        while device.locking.waiting < 1 { await Task.yield() }
        // The other is blocked in its thread, which nothing tells. Time enough for it to return if it did not wait.
        try await Task.sleep(for: .milliseconds(100))
        #expect(!first.isOver && later.allSatisfy { !$0.isOver })
        // A request that is not to wait returns at once.
        try await device.locking.lock(now: false, waits: false)
        mayGoOn.access { $0 = true }
        #expect(await first.wait() == "done")
        for call in later { #expect(await call.wait() == "done") }
    }

    @Test func `a device without a passcode cannot be locked, and is unlocked by anything`() async throws {
        let device = try ProtectedDevice(passcode: nil)
        for (now, waits) in [(false, true), (true, true), (false, false)] {
            let lock = device.begin { () async throws(Complaint) in
                try await device.locking.lock(now: now, waits: waits)
            }
            #expect(await lock.wait() == "noPasscode")
        }
        try device.locking.unlock(passcode: "whatever")
        #expect(device.state == .unlocked && device.hasKeys && device.news == [])
    }

    @Test func `before first unlock there is nothing to lock`() async throws {
        let device = try ProtectedDevice(grace: long, unlocked: false)
        #expect(device.state == .beforeFirstUnlock)
        try await device.locking.lock(now: false, waits: true)
        try await device.locking.lock(now: true, waits: true)
        #expect(device.state == .beforeFirstUnlock && device.news == [])
        try device.locking.unlock(passcode: "1234")
        #expect(device.state == .unlocked && device.news == ["unlocked", "didBecomeAvailable"])
        try device.locking.unlock(passcode: "1234")
        #expect(device.news == [])
        #expect(kind { try device.locking.unlock(passcode: "1") } == .wrongPasscode)
        #expect(device.state == .unlocked)
    }

    // MARK: Restart

    @Test func `a restart takes every key but that of class D, from any state`() async throws {
        let device = try ProtectedDevice(grace: long)
        let expected = [
            ["willBecomeUnavailable", "restarted"], ["restarted"], ["willBecomeUnavailable", "restarted"],
            ["willBecomeUnavailable", "locked", "restarted"],
        ]
        for step in expected.indices {
            switch step {
            case 0: break
            case 1: break
            case 2:
                try device.locking.unlock(passcode: "1234")
                _ = device.news
                try await device.locking.lock(now: false, waits: false)
            default:
                try device.locking.unlock(passcode: "1234")
                _ = device.news
                try await device.locking.lock(now: true, waits: true)
            }
            try device.locking.restart()
            #expect(device.state == .beforeFirstUnlock)
            for protection in ProtectionClass.allCases {
                #expect(device.device.context.keys.isAvailable(protection) == (protection == .none))
            }
            #expect(device.news == expected[step], "\(step)")
        }
        #expect(device.locking.graceRemaining == nil)
    }

    @Test func `a restart during the grace period ends it for those who wait: the device is closed`() async throws {
        let device = try ProtectedDevice(grace: 0.4)
        let lock = await device.beginLock()
        try device.locking.restart()
        #expect(await lock.wait() == "done")
        #expect(device.state == .beforeFirstUnlock)
        try device.locking.unlock(passcode: "1234")
        device.timers.advance(by: .milliseconds(500))
        #expect(device.state == .unlocked, "the lock that was announced before the restart is over")
    }

    @Test func `without a passcode a restart leaves the device unlocked`() async throws {
        let device = try ProtectedDevice(passcode: nil)
        try device.locking.restart()
        #expect(device.state == .unlocked && device.hasKeys)
        #expect(device.news == ["restarted"])
    }

    // MARK: Passcode

    @Test func `removing the passcode unlocks, from every state, and cancels a lock`() async throws {
        for state in DeviceState.allCases {
            let device = try ProtectedDevice(grace: long, unlocked: state != .beforeFirstUnlock)
            var lock: Call?
            if state == .locking {
                lock = await device.beginLock()
            } else if state == .locked {
                try await device.locking.lock(now: true, waits: true)
            }
            #expect(device.state == state)
            _ = device.news
            let wrong = kind {
                try device.locking.changePasscode { (device) throws(Complaint) in try device.passcode.remove([1]) }
            }
            #expect(wrong == .wrongPasscode)
            #expect(device.state == state && device.news == [])
            try device.locking.changePasscode { device throws(Complaint) in
                try device.passcode.remove(Array("1234".utf8))
            }
            #expect(device.state == .unlocked && device.hasKeys, "\(state)")
            let news =
                [
                    .unlocked: [], .locking: ["didBecomeAvailable"],
                    .locked: ["unlocked", "didBecomeAvailable"],
                    .beforeFirstUnlock: ["unlocked", "didBecomeAvailable"],
                ] as [DeviceState: [String]]
            #expect(device.news == news[state], "\(state)")
            if let lock { #expect(await lock.wait() == "lockCancelled") }
        }
    }

    @Test func `changing the passcode changes no state`() async throws {
        let device = try ProtectedDevice(grace: long)
        func change(from old: String, to new: String) throws {
            try device.locking.changePasscode { device throws(Complaint) in
                try device.passcode.change(from: Array(old.utf8), to: Array(new.utf8))
            }
        }
        try change(from: "1234", to: "a")
        try await device.locking.lock(now: false, waits: false)
        try change(from: "a", to: "b")
        #expect(device.state == .locking)
        try await device.locking.lock(now: true, waits: true)
        try change(from: "b", to: "c")
        #expect(device.state == .locked && !device.hasKeys)
        #expect(device.news == ["willBecomeUnavailable", "locked"])
        try device.locking.unlock(passcode: "c")
        #expect(device.state == .unlocked)
    }

    // MARK: Content

    @Test func `content that is open is closed by a lock, opened by an unlock, and gone after a restart`() async throws
    {
        let device = try ProtectedDevice()
        let path = device.scratch["file"]
        let backing = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR | O_CREAT, mode: 0o600))
        let context = device.device.context
        let (file, _) = try EncryptedFile.create(backing, protection: .complete, context: context)
        func read() throws(Fault) { try file.read(count: 1, from: 0) { _ in } }
        try read()
        try await device.locking.lock(now: true, waits: true)
        #expect(throws: Fault.refused(.dataProtection)) { try read() }
        try device.locking.unlock(passcode: "1234")
        try read()
        try device.locking.restart()
        #expect(throws: Fault.system(.inputOutput)) { try read() }
        try device.locking.unlock(passcode: "1234")
        #expect(throws: Fault.system(.inputOutput)) { try read() }
    }
}
