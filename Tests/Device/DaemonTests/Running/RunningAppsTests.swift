// Tests of the leases and marks by which an app is running, and of their end.

import Dispatch
import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Daemon

@Suite struct RunningAppsTests {
    private let notes = ContainerIdentifier("com.example.Notes")!
    private let mail = ContainerIdentifier("com.example.Mail")!
    private let running = RunningApps()
    /// Signalled by each lease of ``lease(_:isDetached:)`` that ends.
    private let hasEnded = Semaphore()

    /// Counts how often something was called back.
    private final class Count: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .sequentiallyConsistent) }
        func add() { count.add(1, ordering: .sequentiallyConsistent) }
    }

    /// A process that is to run a line of shell.
    private func child(_ line: String) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.Plan(
                arguments: ["sh", "-c", line], environment: ["PATH=/usr/bin:/bin"], directory: "/", isDetached: true))
    }

    /// Starts a process under a lease.
    private func lease(_ child: ChildProcess, isDetached: Bool = false) throws -> RunningApps.Hold {
        let hold = running.hold(notes, for: .lease(isDetached: isDetached)) { [hasEnded] in hasEnded.signal() }
        try running.attach(child.identifier, toLease: hold.number)
        try child.start()
        return hold
    }

    /// Waits for the end of one lease, by which the app runs no more.
    private func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(hasEnded.wait(milliseconds: 10_000), "the lease has not ended", sourceLocation: sourceLocation)
        #expect(!running.isRunning(notes), sourceLocation: sourceLocation)
    }

    @Test func `an app runs as long as anything holds it`() {
        let released = Count()
        let first = running.hold(notes, for: .lease(isDetached: false)) { released.add() }
        let second = running.hold(notes, for: .mount)
        #expect(running.isRunning(notes) && running.isLeased(notes) && !running.isRunning(mail))
        #expect(running.all == [notes])
        running.release(first)
        running.release(first)
        #expect(released.value == 1)
        #expect(running.isRunning(notes) && !running.isLeased(notes))
        running.release(second)
        #expect(!running.isRunning(notes) && running.all.isEmpty)
    }

    @Test func `the end of the last process is told, also where a mark or a mount holds the app`() throws {
        let told = Mutex<[String]>([])
        let running = RunningApps(stopped: { app, isHeld in told.withLock { $0.append("\(app.text) \(isHeld)") } })
        let mount = running.hold(notes, for: .mount)
        running.mark(notes)
        let children = try [child("sleep 300"), child("sleep 300")]
        let leases = try children.map { child in
            let hold = running.hold(notes, for: .lease(isDetached: true))
            try running.attach(child.identifier, toLease: hold.number)
            return hold
        }
        running.release(leases[0])
        #expect(told.withLock { $0 }.isEmpty)
        running.release(leases[1])
        #expect(told.withLock { $0 } == ["com.example.Notes true"])
        // A lease that never had a process is none.
        running.release(running.hold(notes, for: .lease(isDetached: false)))
        #expect(told.withLock { $0 }.count == 1)
        try running.closing {}
        #expect(running.isRunning(notes) && told.withLock { $0 }.count == 1)
        running.release(mount)
        #expect(told.withLock { $0 } == ["com.example.Notes true", "com.example.Notes false"])
        for child in children { child.abandon() }
    }

    @Test func `an app is marked once, however often it is asked for`() throws {
        running.mark(notes)
        running.mark(notes)
        try running.terminate([notes])
        #expect(!running.isRunning(notes))
        let complaint = #expect(throws: Complaint.self) { try running.terminate([notes]) }
        #expect(complaint?.kind == .notRunning)
    }

    @Test func `a lease without a process ends with its connection`() {
        for isDetached in [false, true] {
            let hold = running.hold(notes, for: .lease(isDetached: isDetached))
            running.disconnect(hold)
            #expect(!running.isRunning(notes))
        }
    }

    @Test func `a lease ends with its process`() throws {
        for isDetached in [false, true] {
            let child = try child("exit 3")
            _ = try lease(child, isDetached: isDetached)
            #expect(try child.wait() == .exited(3))
            expectEnd()
        }
    }

    @Test func `a process ends with the connection of its lease`() throws {
        let child = try child("trap '' TERM; sleep 300")
        let hold = try lease(child)
        running.disconnect(hold)
        #expect(try child.wait() == .killed(signal: SIGKILL))
        expectEnd()
    }

    @Test func `a detached process outlives the connection`() throws {
        let child = try child("sleep 300")
        let hold = try lease(child, isDetached: true)
        running.disconnect(hold)
        #expect(running.isRunning(notes))
        try running.terminate([notes])
        #expect(try child.wait() == .killed(signal: SIGTERM))
    }

    @Test func `terminate ends the children as well, and other apps go on`() throws {
        let child = try child("sleep 300 & sleep 300")
        _ = try lease(child)
        running.mark(mail)
        eventually("the children") { ProcessFamily.members(of: child.identifier).count == 3 }
        let family = ProcessFamily.members(of: child.identifier).compactMap(WatchedProcess.init)
        try running.terminate([notes])
        for member in family { #expect(member.waitForEnd(until: .now + .seconds(30))) }
        #expect(running.all == [mail])
    }

    @Test func `a lease that was ended takes no process`() throws {
        let child = try child("exit 3")
        let hold = running.hold(notes, for: .lease(isDetached: false))
        try running.terminate([notes])
        let complaint = #expect(throws: Complaint.self) { try running.attach(child.identifier, toLease: hold.number) }
        #expect(complaint?.kind == .notRunning)
        let other = running.hold(notes, for: .mount)
        #expect(throws: Complaint.self) { try running.attach(child.identifier, toLease: other.number) }
        running.release(other)
        child.abandon()
        _ = try child.wait()
    }

    @Test func `a lease takes one process, that there is`() throws {
        let child = try child("exit 3")
        let hold = running.hold(notes, for: .lease(isDetached: false))
        // Neither what is not there, nor what would take the daemon along.
        for identifier in [pid_t.max, -1, 0, 1, getpid(), getppid()] {
            let none = #expect(throws: Complaint.self) { try running.attach(identifier, toLease: hold.number) }
            #expect(none?.kind == .badRequest)
        }
        try running.attach(child.identifier, toLease: hold.number)
        let second = #expect(throws: Complaint.self) { try running.attach(child.identifier, toLease: hold.number) }
        #expect(second?.kind == .badRequest)
        running.release(hold)
        child.abandon()
        _ = try child.wait()
    }

    @Test func `a restart kills processes and drops marks, and mounts hold on`() throws {
        let child = try child("trap '' TERM; sleep 300")
        _ = try lease(child, isDetached: true)
        running.mark(notes)
        let mount = running.hold(mail, for: .mount)
        try running.closing { () throws(Complaint) in
            #expect(running.all == [mail])
            #expect(try! child.wait() == .killed(signal: SIGKILL))
        }
        running.release(mount)
    }

    @Test func `an app that is to run waits for the end of a restart`() throws {
        let begun = Count()
        let (running, notes) = (running, notes)
        let thread = try running.closing { () throws(Complaint) in
            let thread = try! HostThread(name: "lease") {
                let hold = running.hold(notes, for: .lease(isDetached: false))
                begun.add()
                running.release(hold)
            }
            for _ in 0..<100 { sched_yield() }
            #expect(begun.value == 0)
            return thread
        }
        thread.join()
        #expect(begun.value == 1)
    }
}
