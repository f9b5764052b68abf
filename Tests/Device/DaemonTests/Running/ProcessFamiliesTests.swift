// Ending processes with their descendants, those that ignore SIGTERM as well.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite struct ProcessFamiliesTests {
    /// Starts a line of shell, and waits until it has so many members, itself among them.
    private func start(_ line: String, members count: Int = 3) throws -> (
        process: ChildProcess, members: [WatchedProcess]
    ) {
        let process = try ChildProcess(
            ChildProcess.Plan(
                arguments: ["sh", "-c", line], environment: ["PATH=/usr/bin:/bin"], directory: "/", isDetached: true))
        try process.start()
        while ProcessFamily.members(of: process.identifier).count < count { usleep(1000) }
        return (process, ProcessFamily.members(of: process.identifier).compactMap(WatchedProcess.init))
    }

    private func families(of process: ChildProcess) throws -> ProcessFamilies {
        ProcessFamilies(of: [try #require(WatchedProcess(process.identifier))])
    }

    @Test func `a process and its children end on SIGTERM, within the grace`() throws {
        let (process, members) = try start("sleep 300 & sleep 300")
        var families = try families(of: process)
        let begun = ContinuousClock.now
        families.terminate(within: .seconds(30))
        #expect(ContinuousClock.now - begun < .seconds(20))
        #expect(try process.wait() == .killed(signal: SIGTERM))
        for member in members { #expect(member.waitForEnd(until: .now + .seconds(10))) }
    }

    @Test func `processes that ignore SIGTERM are killed after the grace`() throws {
        let (process, members) = try start("trap '' TERM; sleep 300 & sleep 300")
        var families = try families(of: process)
        families.terminate(within: .milliseconds(50))
        for member in members { #expect(!member.waitForEnd(until: .now)) }
        families.kill()
        families.waitForEnd(until: .now + .seconds(10))
        #expect(try process.wait() == .killed(signal: SIGKILL))
        for member in members { #expect(member.waitForEnd(until: .now + .seconds(10))) }
    }

    @Test func `the end of a process that is killed from below is that of all it has started`() async throws {
        let (process, members) = try start("for _ in $(seq 100); do sleep 300 & done; wait", members: 101)
        let families = try families(of: process)
        let killing = Task.detached {
            var families = families
            families.killFromBelow(within: .seconds(30))
        }
        #expect(try process.wait() == .killed(signal: SIGKILL))
        #expect(members.count { !$0.waitForEnd(until: .now) } == 0)
        await killing.value
    }
}
