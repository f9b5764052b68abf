// Foreground, background, and the end of a stay there.

import AppContainer
import Glibc
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite struct AppLifecycleTests {
    private let notes = ContainerIdentifier("com.example.Notes")!
    private let mail = ContainerIdentifier("com.example.Mail")!
    private let lifecycle = AppLifecycle()

    private func nanoseconds(_ duration: Duration) -> UInt64 { UInt64(duration / .nanoseconds(1)) }

    private func child() throws -> ChildProcess {
        let plan = ChildProcess.Plan(
            arguments: ["sleep", "300"], environment: ["PATH=/usr/bin:/bin"], directory: "/", isDetached: true)
        let child = try ChildProcess(plan)
        try child.start()
        return child
    }

    /// Does something on another thread, a moment later.
    private func soon(_ body: @escaping @Sendable () -> Void) throws {
        try HostThread(name: "soon") {
            usleep(20_000)
            body()
        }.detach()
    }

    /// Waits for the end of a stay.
    /// - Returns: whether it ended by itself, and how often tasks were told.
    private func wait(for visit: AppLifecycle.Visit) -> (isDue: Bool, told: Int) {
        var told = 0
        let isDue = lifecycle.awaitEnd(of: visit, notes) { told += 1 }
        return (isDue, told)
    }

    @Test func `a stay ends at its deadline`() throws {
        #expect(lifecycle.appState(of: notes) == .foreground)
        let visit = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.milliseconds(30))))
        #expect(lifecycle.appState(of: notes) == .background && lifecycle.appState(of: mail) == .foreground)
        #expect(lifecycle.enterBackground(notes, for: 0) == nil)
        let begun = ContinuousClock.now
        #expect(wait(for: visit) == (true, 0))
        #expect(ContinuousClock.now - begun >= .milliseconds(25))
        #expect(lifecycle.suspended.isEmpty)
        #expect(lifecycle.beginSuspension(notes, after: visit))
        #expect(lifecycle.suspended == [notes] && lifecycle.appState(of: notes) == .suspended)
        #expect(!lifecycle.beginSuspension(notes, after: visit))
    }

    @Test func `the end of the last task ends a stay, and that of an earlier one does not`() throws {
        let first = try lifecycle.beginTask("a", of: notes, by: getpid())
        #expect(first.remaining == nil && first.task > 0)
        let visit = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.seconds(60))))
        let second = try lifecycle.beginTask("b", of: notes, by: getpid())
        #expect(try #require(second.remaining) <= nanoseconds(.seconds(60)))
        _ = try lifecycle.beginTask("c", of: mail, by: getpid())
        #expect(lifecycle.unendedTasks(of: notes) == ["a", "b"])
        lifecycle.endTask(first.task, of: notes)
        // That of another app is not this app's to end.
        lifecycle.endTask(second.task, of: mail)
        #expect(lifecycle.unendedTasks(of: notes) == ["b"])
        try soon { [lifecycle, notes] in lifecycle.endTask(second.task, of: notes) }
        #expect(wait(for: visit) == (true, 0))
    }

    @Test func `tasks are told once before the end, and a stay without one is not`() throws {
        let task = try lifecycle.beginTask("a", of: notes, by: getpid())
        let visit = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.milliseconds(40))))
        #expect(visit.notice < visit.deadline)
        #expect(wait(for: visit) == (true, 1))
        #expect(lifecycle.unendedTasks(of: notes) == ["a"])
        lifecycle.endTask(task.task, of: notes)
    }

    @Test func `coming to the foreground ends a stay`() throws {
        let visit = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.seconds(60))))
        try soon { [lifecycle, notes] in #expect(lifecycle.enterForeground(notes).0 == .background) }
        #expect(wait(for: visit) == (false, 0))
        #expect(lifecycle.enterForeground(notes).0 == .foreground)
        // A later stay is another one.
        let later = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.seconds(60))))
        #expect(wait(for: visit) == (false, 0))
        #expect(!lifecycle.endStay(visit, notes) && lifecycle.endStay(later, notes))
    }

    @Test func `a task ends with its process`() throws {
        let child = try child()
        _ = try lifecycle.beginTask("a", of: notes, by: child.identifier)
        _ = try lifecycle.beginTask("b", of: notes, by: child.identifier)
        let visit = try #require(lifecycle.enterBackground(notes, for: nanoseconds(.seconds(60))))
        kill(child.identifier, SIGKILL)
        #expect(wait(for: visit) == (true, 0))
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

    @Test func `an app that runs no more is in the foreground when it runs again`() throws {
        let visit = try #require(lifecycle.enterBackground(notes, for: 0))
        #expect(lifecycle.beginSuspension(notes, after: visit))
        lifecycle.forget(notes)
        #expect(lifecycle.appState(of: notes) == .foreground)
    }
}
