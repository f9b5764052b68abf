// Child processes: fork, start, abandon, and the end of their sessions.

import Foundation
import Glibc
import Platform
import SandboxModel
import Testing

@Suite struct ChildProcessTests {
    private func plan(_ arguments: String..., isDetached: Bool = true) -> ChildProcess.Plan {
        ChildProcess.Plan(
            arguments: arguments, environment: ["PATH=/usr/bin:/bin", "WORD=heard"], directory: "/var",
            isDetached: isDetached)
    }

    @Test func `a program has its arguments, its environment and its directory`() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "child-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let child = try ChildProcess(plan("sh", "-c", "pwd >$0; echo $WORD $1 >>$0; exit 7", place.path, "a b"))
        try child.start()
        #expect(try child.wait() == .exited(7))
        #expect(try String(contentsOf: place, encoding: .utf8) == "/var\nheard a b\n")
    }

    @Test func `a program does nothing before it is let go`() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "child-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let child = try ChildProcess(plan("touch", place.path))
        #expect(kill(child.identifier, 0) == 0)
        child.abandon()
        #expect(try child.wait() == .exited(127))
        // Both come too late.
        try child.start()
        child.abandon()
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test(arguments: [
        ("no-such-program", ENOENT), ("/no/such/program", ENOENT), ("/etc/passwd", EACCES), ("/", EACCES),
    ])
    func `a program that cannot be run fails with the host's error`(program: String, code: Int32) throws {
        let child = try ChildProcess(plan(program))
        let error = #expect(throws: SystemError.self) { try child.start() }
        #expect(error?.code == code)
        #expect(try child.wait() == .exited(127))
    }

    @Test(arguments: [false, true])
    func `a missing directory fails the start, found before it or after it`(isEarly: Bool) throws {
        var plan = plan("true")
        plan.directory = "/no/such/directory"
        let child = try ChildProcess(plan)
        if isEarly { #expect(try child.wait() == .exited(127)) }
        let error = #expect(throws: SystemError.self) { try child.start() }
        #expect(error == .noEntry)
        _ = try child.wait()
    }

    @Test func `a program that is killed ends by the signal, also before it runs`() throws {
        let early = try ChildProcess(plan("true"))
        kill(early.identifier, SIGTERM)
        #expect(try early.wait() == .killed(signal: SIGTERM))
        let late = try ChildProcess(plan("sleep", "300"))
        try late.start()
        kill(late.identifier, SIGKILL)
        #expect(try late.wait() == .killed(signal: SIGKILL))
    }

    @Test func `children and the session belong to a process`() throws {
        let child = try ChildProcess(plan("sh", "-c", "sleep 300 & (sleep 300 &) ; exec sleep 300"))
        try child.start()
        // The second has lost its parent, and is in the session still.
        while ProcessFamily.members(of: child.identifier).count < 3 { usleep(1000) }
        #expect(!ProcessFamily.members(of: child.identifier).contains(getpid()))
        for member in ProcessFamily.members(of: child.identifier) { kill(member, SIGKILL) }
        _ = try child.wait()
    }

    @Test func `what a program leaves behind stays below its supervisor, which ends it all at its signal`() throws {
        let child = try ChildProcess(plan("sh", "-c", "setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' & exit 3"))
        try child.start()
        #expect(try child.wait() == .exited(3))
        // The program has ended: the supervisor, a shell and two others are left.
        var left: [pid_t] = []
        repeat { left = ProcessFamily.members(of: child.supervisor) } while left.count < 4
        let handles = left.compactMap(Held.init)
        kill(child.supervisor, ChildProcess.endAll)
        for handle in handles { #expect(handle.hasEnded) }
    }

    @Test func `a program ends with its supervisor`() throws {
        let other = try ChildProcess(self.plan("sleep", "300"))
        try other.start()
        kill(other.supervisor, SIGKILL)
        #expect(try other.wait() == .killed(signal: SIGKILL))
    }

    /// A process that sends a signal, and lives until it is told to end.
    private func sender(of signal: Int32, to process: pid_t) throws -> ChildProcess {
        let sender = try ChildProcess(plan("sh", "-c", "kill -\(signal) \(process); exec sleep 300"))
        try sender.start()
        // The shell has become sleep when the signal is sent.
        while HostProcess(ofThread: sender.identifier).name != "sleep" {
            usleep(1000)
        }
        return sender
    }

    private func end(_ process: ChildProcess) throws {
        kill(process.supervisor, ChildProcess.endAll)
        _ = try process.wait()
    }

    @Test(arguments: [false, true])
    func `what is suspended is killed when the process that has suspended it ends`(isStopped: Bool) throws {
        let child = try ChildProcess(plan("sh", "-c", "setsid sleep 300 & sleep 300"))
        try child.start()
        var family: [pid_t] = []
        repeat { family = ProcessFamily.descendants(of: child.supervisor) } while family.count < 3
        let sender = try sender(of: ChildProcess.suspended, to: child.supervisor)
        if isStopped { for member in family { kill(member, SIGSTOP) } }
        usleep(50_000)
        let handles = family.compactMap(Held.init)
        #expect(handles.count == family.count)
        try end(sender)
        for handle in handles { #expect(handle.hasEnded) }
        #expect(try child.wait() == .killed(signal: SIGKILL))
    }

    @Test func `what was resumed goes on when the process that had suspended it ends`() throws {
        let child = try ChildProcess(plan("sleep", "300"))
        try child.start()
        let sender = try sender(of: ChildProcess.suspended, to: child.supervisor)
        usleep(20_000)
        kill(child.supervisor, ChildProcess.resumed)
        usleep(20_000)
        try end(sender)
        usleep(100_000)
        #expect(kill(child.identifier, 0) == 0)
        try end(child)
    }
}

/// A handle in a collection.
private final class Held {
    private let process: ProcessHandle
    var hasEnded: Bool { process.waitForEnd(milliseconds: 10_000) }

    init?(_ identifier: pid_t) {
        guard let process = ProcessHandle(identifier) else { return nil }
        self.process = process
    }
}
