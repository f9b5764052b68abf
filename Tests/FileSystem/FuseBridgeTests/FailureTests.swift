// Tests of connections over io_uring that fail, at the start and in the middle of serving.

import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import FuseBridge

@Suite(.serialized) struct FailureTests {
    @Test(arguments: Mounted.transports.filter { $0 == .ioUring })
    func aReplyThatTheKernelRefusesEndsTheSessionWithOneLine(transport: TransportChoice) throws {
        try Mounted.run(over: transport) { mount in
            let file = try Descriptor.open(path: mount.path("open"), flags: O_CREAT | O_RDWR, mode: 0o600)
            // No request has this number.
            mount.fileSystem.state.withLock { $0.atLookup = { RingEntry.current?.commit = 1 << 40 } }
            let clients = try (0..<4).map { index in
                try HostThread(name: "client") { _ = unsafe access(mount.path("a\(index)"), F_OK) }
            }
            for client in clients { client.join() }
            mount.session.waitUntilEnded()
            #expect(throws: SystemError(code: ENOTCONN)) { try file.synchronize() }
            #expect(HostMount.isAbandoned(mount.path))
            let (failures, isOver) = mount.fileSystem.state.withLock { ($0.failures, $0.ended && $0.openFiles == 0) }
            #expect(isOver)
            #expect(
                failures == [
                    "the mount at \(mount.path) ends: a command over io_uring failed: No such file or directory"
                ])
        }
    }

    @Test(arguments: Mounted.transports.filter { $0 == .ioUring })
    func aConnectionThatIsAbortedHasNotFailed(transport: TransportChoice) throws {
        try Mounted.run(over: transport) { mount in
            #expect(mount.session.abort())
            mount.session.waitUntilEnded()
            #expect(mount.fileSystem.state.withLock { $0.failures } == [])
        }
    }

    /// The kernel looks at its setting when it sends INIT, and again at the reply.
    @Test(.enabled(if: Mounted.canBeSwitched), arguments: Mounted.transports.filter { $0 == .ioUring })
    func ioUringThatIsSwitchedOffAfterItWasOfferedLeavesTheMountToTheOtherTransport(transport: TransportChoice) throws {
        let path = "/tmp/fusebridge.\(getpid()).switched"
        try HostDirectory.make(path)
        defer { try? HostDirectory.remove(path) }
        defer { FailureTests.set("Y") }
        var options = Session.Options(source: "test", subtype: "memory", otherUsers: false)
        options.beforeInitialReply = { FailureTests.set("N") }
        let session = try Session.mount(MemoryFileSystem(), at: path, options: options)
        #expect(session.transport == .devFuse)
        #expect(unsafe code(access(path + "/absent", F_OK)) == ENOENT)
        try Session.unmount(path, lazily: false)
        session.waitUntilEnded()
        FailureTests.set("Y")
        options.transport = transport
        #expect {
            _ = try Session.mount(MemoryFileSystem(), at: path, options: options)
        } throws: {
            ($0 as? MountFailure)?.message.contains("took no request queue over io_uring: Operation not supported")
                == true
        }
    }

    private static func set(_ value: String) {
        let isWritten = (try? value.write(toFile: Mounted.setting, atomically: false, encoding: .utf8)) != nil
        #expect(isWritten)
    }

    @Test(arguments: Mounted.transports.filter { $0 == .ioUring })
    func entriesThatTheKernelRefusesLeaveTheMountToTheOtherTransport(transport: TransportChoice) throws {
        let path = "/tmp/fusebridge.\(getpid()).refused"
        try HostDirectory.make(path)
        defer { try? HostDirectory.remove(path) }
        var options = Session.Options(source: "test", subtype: "memory", otherUsers: false)
        // Less than the kernel wants, whatever the largest WRITE is.
        options.ringPlan = RingPlan(
            workers: (0..<(try #require(Processors.possibleCount()))).map {
                .init(processor: nil, queues: [UInt16($0)])
            },
            payload: 4096)
        let session = try Session.mount(MemoryFileSystem(), at: path, options: options)
        #expect(session.transport == .devFuse)
        #expect(unsafe code(access(path + "/absent", F_OK)) == ENOENT)
        try Session.unmount(path, lazily: false)
        session.waitUntilEnded()
        options.transport = transport
        #expect {
            _ = try Session.mount(MemoryFileSystem(), at: path, options: options)
        } throws: {
            ($0 as? MountFailure)?.message.contains("took no request queue over io_uring: Invalid argument") == true
        }
    }
}
