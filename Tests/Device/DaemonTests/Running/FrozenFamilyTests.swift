// Processes that stop all at once, and go on.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite struct FrozenFamilyTests {
    /// A program that appends to a file all the time, with a supervisor.
    private final class Program {
        let process: ChildProcess
        let path: String

        /// - Parameter group: a control group of its own; nil for none.
        init(_ script: String, group: ControlGroup? = nil) throws {
            path = "/tmp/frozen-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            var plan = ChildProcess.Plan(
                arguments: ["sh", "-c", script], environment: ["PATH=/usr/bin:/bin", "FILE=\(path)"], directory: "/",
                isDetached: true)
            plan.group = group
            process = try ChildProcess(plan)
            try process.start()
            while length == 0 { usleep(1000) }
        }

        deinit {
            let supervisor = WatchedProcess(process.supervisor)
            supervisor?.send(ChildProcess.endAll)
            _ = try? process.wait()
            // Nothing is left then that would make the file anew.
            _ = supervisor?.waitForEnd(until: .now + .seconds(10))
            _ = unsafe unlink(path)
        }

        var length: Int {
            var status = stat()
            return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
        }

        func running() throws -> RunningProcess {
            let watched = try #require(WatchedProcess(process.identifier) as WatchedProcess?)
            return RunningProcess(process: watched, supervisor: WatchedProcess(process.supervisor))
        }

        func standsStill() -> Bool {
            let before = length
            usleep(50_000)
            return length == before
        }

        func goesOn() -> Bool {
            let before = length
            for _ in 0..<1000 where length == before { usleep(10_000) }
            return length > before
        }
    }

    private let forking = "branch() { while :; do (echo x >>$FILE); done; }; branch & (branch & branch) & branch"

    @Test func `a tree that forks all the time is stopped by signals, and goes on`() throws {
        let program = try Program(forking)
        for _ in 0..<5 {
            let family = try FrozenFamily.freeze([program.running()], remains: [])
            #expect(!family.isByControlGroup && family.members.count >= 3)
            #expect(program.standsStill())
            // The supervisor goes on: it kills the others should this process end.
            #expect(!ProcessState.isStopped(program.process.supervisor))
            family.thaw()
            #expect(program.goesOn())
        }
    }

    /// dash runs a command by vfork(2), in which the parent is neither running nor stopped.
    @Test func `a parent that waits for a child which is stopped counts as stopped`() throws {
        let program = try Program("while :; do /bin/true; echo x >>$FILE; done")
        for _ in 0..<60 {
            let begun = ContinuousClock.now
            let family = try FrozenFamily.freeze([program.running()], remains: [])
            #expect(ContinuousClock.now - begun < .seconds(1))
            #expect(program.standsStill())
            family.thaw()
            #expect(program.goesOn())
        }
    }

    /// A parent in vfork(2) has two children then, and the one that is stopped is not the one that it waits for.
    @Test func `a child that was stopped before lets no parent go on`() throws {
        let program = try Program("sleep 300 & kill -STOP $!; while :; do /bin/true; echo x >>$FILE; done")
        for _ in 0..<60 {
            let family = try FrozenFamily.freeze([program.running()], remains: [])
            #expect(program.standsStill())
            family.thaw()
            #expect(program.goesOn())
        }
    }

    /// As root, and for a user whose session is delegated.
    @Test func `a control group freezes it, and shows it to nobody`() throws {
        guard let group = ControlGroup.forProgram() else {
            #expect(geteuid() != 0 || ControlGroup(of: getpid()) == nil)
            return
        }
        let program = try Program(forking, group: group)
        #expect(
            group.isOfOneProgram && group.holds(program.process.identifier) && !group.holds(program.process.supervisor))
        for _ in 0..<5 {
            let family = try FrozenFamily.freeze([program.running()], remains: [])
            #expect(family.isByControlGroup && group.isFrozen && program.standsStill())
            #expect(!ProcessState.isStopped(program.process.identifier))
            family.thaw()
            #expect(program.goesOn())
        }
        let family = try FrozenFamily.freeze([program.running()], remains: [])
        let root = try #require(family.members.first { $0.identifier == program.process.identifier })
        #expect(family.kill(root))
        #expect(try program.process.wait() == .killed(signal: SIGKILL))
        family.thaw()
    }

    /// An app of another device, started by a program: in the group of that, but without all that is in it.
    @Test func `a group that others are in as well is not frozen`() throws {
        guard let group = ControlGroup.forProgram() else {
            #expect(geteuid() != 0 || ControlGroup(of: getpid()) == nil)
            return
        }
        let outer = try Program(
            "(while :; do echo x >>$FILE; sleep 0.01; done) & (while :; do echo x >>$FILE.inner; sleep 0.01; done)",
            group: group)
        defer { _ = unsafe unlink(outer.path + ".inner") }
        var status = stat()
        while unsafe stat(outer.path + ".inner", &status) != 0 { usleep(1000) }
        #expect(group.holdsOnly(membersOf: outer.process.supervisor))
        let children = ProcessFamily.descendants(of: outer.process.identifier)
        let inner = try #require(children.first { !ProcessFamily.descendants(of: $0).isEmpty })
        #expect(group.holds(inner) && !group.holdsOnly(membersOf: inner))
        let watched = try #require(WatchedProcess(inner) as WatchedProcess?)
        let family = try FrozenFamily.freeze([RunningProcess(process: watched, supervisor: nil)], remains: [])
        #expect(!family.isByControlGroup && !group.isFrozen)
        #expect(ProcessState.isStopped(inner) && !ProcessState.isStopped(outer.process.identifier))
        family.thaw()
    }

    /// Its client may have written it before there were these signals.
    @Test func `a supervisor that would die of the news is not told`() throws {
        let program = try Program("(trap '' 46; while :; do echo x >>$FILE; sleep 0.01; done) & wait")
        let root = program.process.identifier
        #expect(!ProcessState.takes(ChildProcess.suspended, root))
        #expect(ProcessState.takes(ChildProcess.suspended, program.process.supervisor))
        let inner = try #require(ProcessFamily.descendants(of: root).first)
        #expect(ProcessState.takes(ChildProcess.suspended, inner))
        let family = try FrozenFamily.freeze(
            [
                RunningProcess(
                    process: #require(WatchedProcess(inner) as WatchedProcess?), supervisor: WatchedProcess(root))
            ], remains: [])
        #expect(program.standsStill())
        family.thaw()
        #expect(program.goesOn() && kill(root, 0) == 0 && !ProcessState.isStopped(root))
    }

    @Test func `only members of a family are members of it`() throws {
        let program = try Program("setsid sh -c 'echo x >>$FILE; sleep 300 & sleep 300' & wait")
        let (root, supervisor) = (program.process.identifier, program.process.supervisor)
        for member in ProcessFamily.members(of: supervisor) {
            #expect(ProcessFamily.isMember(member, of: supervisor))
        }
        #expect(ProcessFamily.members(of: supervisor).count >= 4)
        #expect(!ProcessFamily.isMember(supervisor, of: root) && !ProcessFamily.isMember(getpid(), of: supervisor))
        #expect(!ProcessFamily.isMember(pid_t.max, of: supervisor))
    }

    @Test func `a process that was stopped before stays so`() throws {
        let program = try Program("echo x >>$FILE; kill -STOP $$")
        while !ProcessState.isStopped(program.process.identifier) { usleep(1000) }
        let family = try FrozenFamily.freeze([program.running()], remains: [])
        family.thaw()
        usleep(50_000)
        #expect(ProcessState.isStopped(program.process.identifier))
        #expect(!ProcessState.isStopped(program.process.supervisor))
    }

    @Test func `a frozen process is killed, and its supervisor tells of it`() throws {
        let program = try Program("while :; do echo x >>$FILE; done")
        let family = try FrozenFamily.freeze([program.running()], remains: [])
        #expect(family.kill(try #require(family.members.first)))
        #expect(try program.process.wait() == .killed(signal: SIGKILL))
    }

    @Test func `what was left behind is frozen with the app`() throws {
        let program = try Program("(while :; do echo x >>$FILE; sleep 0.01; done) & while :; do sleep 0.01; done")
        let supervisor = try #require(WatchedProcess(program.process.supervisor))
        kill(program.process.identifier, SIGKILL)
        _ = try program.process.wait()
        let family = try FrozenFamily.freeze([], remains: [supervisor])
        #expect(program.standsStill())
        family.thaw()
        #expect(program.goesOn())
    }

    @Test func `nothing is frozen of an app without a process`() throws {
        let family = try FrozenFamily.freeze([], remains: [])
        #expect(family.members.isEmpty)
        family.thaw()
    }
}
