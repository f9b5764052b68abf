// Tests of the wait for a descriptor without a thread.

import Glibc
import Platform
import SandboxModel
import Synchronization
import Testing

@Suite struct ReadinessWatchTests {
    /// Two connected sockets that do not block.
    private func connection() throws -> (SharedDescriptor, SharedDescriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        let answer = unsafe socketpair(AF_UNIX, kind, 0, &ends)
        try #require(answer == 0)
        return (SharedDescriptor(Descriptor(owning: ends[0])), SharedDescriptor(Descriptor(owning: ends[1])))
    }

    /// A socket whose other end has answered and closed.
    private func answered() throws -> SharedDescriptor {
        let (ours, theirs) = try connection()
        #expect(try theirs.descriptor.send([1]) == 1)
        return ours
    }

    private func events(of descriptor: Int32) -> Int32 {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, 0)
        return Int32(request.revents)
    }

    @Test func `a watch tells of an answer and not of the hang-up`() throws {
        let socket = try answered()
        #expect(events(of: socket.descriptor.number) & POLLHUP != 0)
        let watch = try ReadinessWatch(of: socket.descriptor.number, ownedBy: socket, for: .reading)
        #expect(events(of: watch.eventDescriptor) == POLLIN)
    }

    @Test func `a watch tells of the end of a process and not of its hang-up`() throws {
        let child = try ChildProcess(
            ChildProcess.Plan(
                arguments: ["true"], environment: ["PATH=/usr/bin:/bin"], directory: "/", isDetached: true))
        let process = try #require(Process(child.identifier))
        let watch = try ReadinessWatch(of: process.handle.eventDescriptor, ownedBy: process, for: .reading)
        #expect(events(of: watch.eventDescriptor) == 0)
        try child.start()
        _ = try child.wait()
        let hasEnded = process.handle.waitForEnd(milliseconds: -1)
        #expect(hasEnded)
        #expect(events(of: watch.eventDescriptor) == POLLIN)
    }

    @Test func `every wait ends where the other end answers and hangs up`() async throws {
        for _ in 0..<200 {
            let sockets = try (0..<32).map { _ in try answered() }
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for socket in sockets {
                    group.addTask {
                        try await socket.waitUntilReady(for: .reading)
                        return try socket.descriptor.receive(atMost: 2)
                    }
                }
                for try await bytes in group { #expect(bytes == [1]) }
            }
        }
    }

    @Test func `a wait to write ends when there is space again`() async throws {
        let (ours, theirs) = try connection()
        let block = [UInt8](repeating: 0, count: 4096)
        while (try? ours.descriptor.send(block[...])) != nil {}
        let watch = try ReadinessWatch(of: ours.descriptor.number, ownedBy: ours, for: .writing)
        #expect(events(of: watch.eventDescriptor) == 0)
        async let space: Void = watch.wait()
        while (try? theirs.descriptor.receive(atMost: 4096)) != nil {}
        try await space
        #expect(try ours.descriptor.send(block[...]) > 0)
    }

    @Test func `a cancelled wait throws, and the next one waits anew`() async throws {
        let (ours, theirs) = try connection()
        for _ in 0..<100 {
            let wait = Task { try await ours.waitUntilReady(for: .reading) }
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        async let answer: Void = ours.waitUntilReady(for: .reading)
        _ = try theirs.descriptor.send([1])
        try await answer
    }

    @Test func `a watch calls back once`() async throws {
        let socket = try answered()
        let calls = Calls()
        let watch = try ReadinessWatch(of: socket.descriptor.number, ownedBy: socket, for: .reading)
        await withCheckedContinuation { continuation in
            watch.whenReady {
                calls.count.add(1, ordering: .relaxed)
                continuation.resume()
            }
        }
        try await watch.wait()
        #expect(calls.count.load(ordering: .relaxed) == 1)
    }

    @Test func `a watch of nothing is an error`() throws {
        let (ours, _) = try connection()
        let error = #expect(throws: SystemError.self) { try ReadinessWatch(of: -1, ownedBy: ours, for: .reading) }
        #expect(error?.code == EBADF)
    }

    private final class Calls: Sendable {
        let count = Atomic<Int>(0)
    }

    private final class Process: Sendable {
        let handle: ProcessHandle

        init?(_ identifier: pid_t) {
            guard let handle = ProcessHandle(identifier) else { return nil }
            self.handle = handle
        }
    }
}
