// Foreground, background, and the end of a stay there.

import AppContainer
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Daemon

@Suite struct AppLifecycleTests {
    /// The words that tasks were told, and ends of stays.
    private final class Told: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    private let notes = ContainerIdentifier("com.example.Notes")!
    private let mail = ContainerIdentifier("com.example.Mail")!
    private let timers = ManualTimers()
    private let told = Told()
    private let lifecycle: AppLifecycle

    init() {
        lifecycle = AppLifecycle(timers: timers.timers) { [told] app, left in
            told.add("\(app.text) \(left / .seconds(1))")
        }
    }

    private func child() throws -> ChildProcess {
        let plan = ChildProcess.Plan(
            arguments: ["sleep", "300"], environment: ["PATH=/usr/bin:/bin"], directory: "/", isDetached: true)
        let child = try ChildProcess(plan)
        try child.start()
        return child
    }

    private func waitUntil(waiting count: Int) async {
        while lifecycle.waiting != count { await Task.yield() }
    }

    @Test func `a stay ends at its deadline, and not before`() async throws {
        #expect(lifecycle.appState(of: notes) == .foreground)
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        #expect(lifecycle.appState(of: notes) == .background && lifecycle.appState(of: mail) == .foreground)
        #expect(lifecycle.enterBackground(notes, for: .zero) == nil)
        async let end = lifecycle.end(of: stay)
        await waitUntil(waiting: 1)
        timers.advance(by: .milliseconds(59_900))
        #expect(lifecycle.waiting == 1)
        timers.advance(by: .milliseconds(100))
        #expect(await end == .due)
        #expect(told.all.isEmpty && lifecycle.suspended.isEmpty)
        #expect(lifecycle.beginSuspension(after: stay))
        #expect(lifecycle.suspended == [notes] && lifecycle.appState(of: notes) == .suspended)
        #expect(!lifecycle.beginSuspension(after: stay))
    }

    @Test func `a stay of no time is over at once`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .zero))
        #expect(await lifecycle.end(of: stay) == .due)
        #expect(told.all.isEmpty)
    }

    @Test func `the end of the last task ends a stay, and that of an earlier one does not`() async throws {
        let first = try lifecycle.beginTask("a", of: notes, by: getpid())
        #expect(first.remaining == nil && first.task > 0)
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        let second = try lifecycle.beginTask("b", of: notes, by: getpid())
        #expect(second.remaining == .seconds(60))
        _ = try lifecycle.beginTask("c", of: mail, by: getpid())
        #expect(lifecycle.unendedTasks(of: notes) == ["a", "b"])
        async let end = lifecycle.end(of: stay)
        await waitUntil(waiting: 1)
        lifecycle.endTask(first.task, of: notes)
        // That of another app is not this app's to end.
        lifecycle.endTask(second.task, of: mail)
        #expect(lifecycle.unendedTasks(of: notes) == ["b"] && lifecycle.waiting == 1)
        lifecycle.endTask(second.task, of: notes)
        #expect(await end == .due)
    }

    @Test func `an app that ends its last task as soon as it is told ends the stay`() async throws {
        let task = try lifecycle.beginTask("save", of: notes, by: getpid())
        let stay = lifecycle.enterBackground(notes, for: .seconds(60)) {
            #expect(lifecycle.appState(of: notes) == .background)
            lifecycle.endTask(task.task, of: notes)
        }
        #expect(await lifecycle.end(of: try #require(stay)) == .due)
        // Where it is in the background already, it is told nothing.
        #expect(lifecycle.enterBackground(notes, for: .zero) { told.add("entered") } == nil)
        #expect(told.all.isEmpty)
    }

    @Test func `tasks are told once before the end, and a stay without one is not`() async throws {
        let task = try lifecycle.beginTask("a", of: notes, by: getpid())
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        timers.advance(by: .seconds(54))
        #expect(told.all.isEmpty)
        timers.advance(by: .seconds(1))
        #expect(told.all == ["com.example.Notes 5.0"])
        timers.advance(by: .seconds(5))
        #expect(await lifecycle.end(of: stay) == .due)
        #expect(told.all.count == 1 && lifecycle.unendedTasks(of: notes) == ["a"])
        lifecycle.endTask(task.task, of: notes)
        lifecycle.finish(stay)
        // In a short one half of the time is left.
        _ = lifecycle.enterForeground(notes)
        _ = try lifecycle.beginTask("b", of: notes, by: getpid())
        #expect(lifecycle.enterBackground(notes, for: .seconds(1)) != nil)
        timers.advance(by: .milliseconds(500))
        #expect(told.all.last == "com.example.Notes 0.5")
    }

    @Test func `time that passes on the device's clock moves a stay, the notice before the end`() async throws {
        _ = try lifecycle.beginTask("a", of: notes, by: getpid())
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        lifecycle.pass(.seconds(30))
        #expect(told.all.isEmpty)
        let waiting = Task { [lifecycle, told] in
            let end = await lifecycle.end(of: stay)
            told.add("\(end)")
            lifecycle.finish(stay)
        }
        await waitUntil(waiting: 1)
        // Returns when what waits for the stay has been carried out.
        await WorkQueue().run { [lifecycle] in lifecycle.pass(.seconds(31)) }
        #expect(told.all == ["com.example.Notes 5.0", "due"])
        await waiting.value
        // Appointments from before are void.
        timers.advance(by: .seconds(120))
        #expect(told.all.count == 2)
    }

    @Test func `a part of the time passes on the device's clock, and the rest on the host's`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        lifecycle.pass(.seconds(50))
        async let end = lifecycle.end(of: stay)
        await waitUntil(waiting: 1)
        timers.advance(by: .seconds(9))
        #expect(lifecycle.waiting == 1)
        timers.advance(by: .seconds(1))
        #expect(await end == .due)
    }

    @Test func `coming to the foreground ends a stay, also one that is due`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        async let end = lifecycle.end(of: stay)
        await waitUntil(waiting: 1)
        #expect(lifecycle.enterForeground(notes).0 == .background)
        #expect(await end == .foreground)
        #expect(lifecycle.enterForeground(notes).0 == .foreground)
        // A later stay is another one.
        let later = try #require(lifecycle.enterBackground(notes, for: .zero))
        #expect(!lifecycle.endStay(stay) && !lifecycle.beginSuspension(after: stay))
        #expect(await lifecycle.end(of: later) == .due)
        _ = lifecycle.enterForeground(notes)
        #expect(!lifecycle.beginSuspension(after: later) && lifecycle.lastEnd(of: later) == .foreground)
    }

    @Test func `a client that goes abandons its stay, which is then ended`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        let client = Task { [lifecycle] in await lifecycle.end(of: stay) }
        await waitUntil(waiting: 1)
        client.cancel()
        #expect(await client.value == .abandoned)
        #expect(lifecycle.endStay(stay) && lifecycle.appState(of: notes) == .foreground)
        lifecycle.finish(stay)
        #expect(lifecycle.waiting == 0)
    }

    @Test func `the end of the device wakes every request`() async throws {
        let one = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        let other = try #require(lifecycle.enterBackground(mail, for: .seconds(60), isRehearsal: true))
        async let ends = [lifecycle.end(of: one), lifecycle.end(of: other)]
        await waitUntil(waiting: 1)
        lifecycle.endStays()
        #expect(await ends == [.shutdown, .shutdown])
    }

    @Test func `a task ends with its process`() async throws {
        let child = try child()
        _ = try lifecycle.beginTask("a", of: notes, by: child.identifier)
        _ = try lifecycle.beginTask("b", of: notes, by: child.identifier)
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        kill(child.identifier, SIGKILL)
        #expect(await lifecycle.end(of: stay) == .due)
        #expect(lifecycle.unendedTasks(of: notes).isEmpty)
        _ = try child.wait()
    }

    @Test func `a process that is not there begins no task, and one has only so many`() throws {
        let none = #expect(throws: Complaint.self) { try lifecycle.beginTask("a", of: notes, by: pid_t.max) }
        #expect(none?.kind == .badRequest)
        let child = try child()
        defer { kill(child.identifier, SIGKILL) }
        for _ in 0..<BackgroundTasks.mostOfOneProcess {
            _ = try lifecycle.beginTask("", of: mail, by: child.identifier)
        }
        let more = #expect(throws: Complaint.self) { try lifecycle.beginTask("", of: mail, by: child.identifier) }
        #expect(more?.kind == .badRequest)
        _ = try lifecycle.beginTask("", of: mail, by: getpid())
    }

    /// Whether the process ends before, while or after it is seen to be there.
    @Test func `no task outlives a process that ends as it begins one`() throws {
        for round in 0..<200 {
            let child = try child()
            let killer = try HostThread(name: "killer") {
                usleep(UInt32(round % 20) * 10)
                kill(child.identifier, SIGKILL)
                _ = try? child.wait()
            }
            _ = try? lifecycle.beginTask("a", of: notes, by: child.identifier)
            killer.join()
            for _ in 0..<5000 where !lifecycle.unendedTasks(of: notes).isEmpty { usleep(1000) }
            try #require(lifecycle.unendedTasks(of: notes).isEmpty)
        }
    }

    @Test func `an app that runs no more is in the foreground when it runs again`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .zero))
        #expect(lifecycle.beginSuspension(after: stay))
        lifecycle.forget(notes)
        #expect(lifecycle.appState(of: notes) == .foreground)
        let next = try #require(lifecycle.enterBackground(notes, for: .seconds(60)))
        lifecycle.forget(notes, isHeld: true)
        #expect(await lifecycle.end(of: next) == .ended)
        #expect(lifecycle.appState(of: notes) == .foreground)
    }

    @Test func `a rehearsal goes on when a process of its app ends, and not after a restart`() async throws {
        let stay = try #require(lifecycle.enterBackground(notes, for: .seconds(60), isRehearsal: true))
        lifecycle.forget(notes, isHeld: true)
        #expect(lifecycle.appState(of: notes) == .background)
        lifecycle.forgetAll()
        #expect(await lifecycle.end(of: stay) == .ended)
        #expect(lifecycle.appState(of: notes) == .foreground)
    }
}
