// Tests of the transports: what the kernel asks over io_uring beside the usual requests, and a demand that cannot be
// met.

import CPlatform
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import FuseBridge

@Suite(.serialized) struct TransportTests {
    /// More than the entries of any queue.
    private static let many = 40

    @Test func repliesOfOtherThreadsKeepNoRequestWaiting() throws {
        try Mounted.run { mount in try TransportTests.seekLate(mount) }
    }

    /// As for processors that are switched on after the mount.
    @Test(arguments: Mounted.transports.filter { $0 == .ioUring })
    func aThreadOfSeveralQueuesServesThemWhileItsRepliesAreLate(transport: TransportChoice) throws {
        let plan = RingPlan(possible: try #require(Processors.possibleCount()), online: [], allowed: { _ in true })
        try Mounted.run(over: transport, plan: plan) { mount in try TransportTests.seekLate(mount) }
    }

    private static func seekLate(_ mount: Mounted) throws {
        let fileSystem = mount.fileSystem
        for index in 0..<TransportTests.many { try mount.write("content", to: "file\(index)") }
        fileSystem.state.withLock { $0.seeksAreLate = true }
        let wrong = Atomic<Int>(0)
        let seekers = try (0..<TransportTests.many).map { index in
            // Files of their own: the kernel holds a file's lock meanwhile.
            let file = try Descriptor.open(path: mount.path("file\(index)"), flags: O_RDONLY)
            return try HostThread(name: "seeker") {
                if lseek(file.number, 3, platform_SEEK_HOLE) != 7 { wrong.add(1, ordering: .relaxed) }
            }
        }
        eventually("all wait") { fileSystem.state.withLock { $0.lateSeeks } == TransportTests.many }
        for index in 0..<20 { #expect(unsafe code(access(mount.path("absent\(index)"), F_OK)) == ENOENT) }
        // A lock of the device meanwhile zeroes the memory of those that wait.
        mount.session.wipeRequests()
        mount.session.quiesce()
        for _ in 0..<TransportTests.many { fileSystem.goOn.signal() }
        for seeker in seekers { seeker.join() }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    /// Each further worker has the kernel send a request whose number the bridge chooses.
    @Test func aRetrievalIsNeverTakenForARequestThatIsUnderWay() throws {
        try Mounted.run { mount in
            let fileSystem = mount.fileSystem
            // Made behind the kernel's back, so that the requests below have the first numbers.
            try fileSystem.state.withLock { state in
                state.seeksAreLate = true
                for index in 0..<TransportTests.more {
                    let name = Array("file\(index)".utf8)
                    let number = fileSystem.add(name, .root, S_IFREG | 0o644, RequestCaller.root, &state)
                    state.nodes[try #require(number)]!.content = Array("content".utf8)
                }
            }
            let wrong = Atomic<Int>(0)
            var seekers: [HostThread] = []
            for index in 0..<TransportTests.more {
                let path = mount.path("file\(index)")
                seekers.append(
                    try HostThread(name: "seeker") {
                        // All in one queue.
                        Processors.bindThread(to: 0)
                        guard let file = try? Descriptor.open(path: path, flags: O_RDONLY),
                            lseek(file.number, 3, platform_SEEK_HOLE) == 7
                        else {
                            wrong.add(1, ordering: .relaxed)
                            return
                        }
                    })
                eventually("it waits") { fileSystem.state.withLock { $0.lateSeeks } == index + 1 }
            }
            for _ in seekers { fileSystem.goOn.signal() }
            for seeker in seekers { seeker.join() }
            #expect(wrong.load(ordering: .relaxed) == 0)
        }
    }

    /// More than the numbers of the first requests of a mount.
    private static let more = 80

    /// The kernel has a queue for each processor, and a caller's request goes into that of its own.
    @Test(arguments: Mounted.transports.filter { $0 == .ioUring }, [TransportTests.onePlan, TransportTests.sharedPlan])
    func slowRequestsOfOneProcessorKeepNoOthersWaiting(transport: TransportChoice, plan: RingPlan) throws {
        try Mounted.run(over: transport, plan: plan) { mount in
            let fileSystem = mount.fileSystem
            try mount.write("content", to: "known")
            fileSystem.state.withLock { $0.slowPrefix = Array("slow".utf8) }
            let slow = try (0..<TransportTests.slow).map { index in
                try HostThread(name: "slow") {
                    Processors.bindThread(to: 0)
                    _ = unsafe access(mount.path("slow\(index)"), F_OK)
                }
            }
            eventually("all are served") { fileSystem.state.withLock { $0.slowLookups } == TransportTests.slow }
            for _ in slow { fileSystem.goOn.signal() }
            for thread in slow { thread.join() }
        }
    }

    /// More than the entries of a queue in the plan of this machine.
    private static let slow = 12
    private static let onePlan = RingPlan(
        possible: Processors.possibleCount() ?? 1, online: Processors.online(), allowed: { _ in true })
    /// As for processors that are switched on after the mount: one thread for all queues.
    private static let sharedPlan = RingPlan(
        possible: Processors.possibleCount() ?? 1, online: [], allowed: { _ in true })

    @Test func contentThatMustNotRemainArrives() throws {
        try Mounted.run { mount in
            mount.fileSystem.state.withLock { $0.isSecret = true }
            // The largest takes more requests than there are entries.
            for count in [1, 5000, 48 << 20] {
                let content = TransportTests.bytes(count)
                let name = "file of \(count)"
                let file = try Descriptor.open(path: mount.path(name), flags: O_CREAT | O_RDWR, mode: 0o600)
                try file.append(content)
                try file.synchronize()
                mount.session.notifications.forgetContent(of: try #require(mount.fileSystem.node(name)))
                mount.session.notifications.drain()
                // Not in an expectation, which would show both.
                let isSame = try HostPath.contents(mount.path(name), limit: count) == content
                #expect(isSame)
            }
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        let piece = (0..<256).map { UInt8($0) } + (0..<997).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + piece.count)
        while bytes.count < count { bytes += piece }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    @Test func aLockDoesNotWaitForClientsThatNeverPause() throws {
        try Mounted.run { mount in
            let isOver = Atomic<Bool>(false)
            // More than the entries of all queues, so that a request is always behind another.
            let clients = try (0..<TransportTests.many).map { client in
                try HostThread(name: "client") {
                    var number = 0
                    while !isOver.load(ordering: .relaxed) {
                        number += 1
                        _ = unsafe access(mount.path("absent\(client).\(number)"), F_OK)
                    }
                }
            }
            for _ in 0..<20 {
                mount.session.wipeRequests()
                mount.session.quiesce()
            }
            mount.session.stop()
            isOver.store(true, ordering: .relaxed)
            for client in clients { client.join() }
        }
    }

    @Test func anEntryOfAListThatTheKernelRefusesIsForgotten() throws {
        try Mounted.run { mount in
            try mount.fileSystem.state.withLock { state in
                // A type that no file has: the kernel takes the name, and drops the node.
                _ = try #require(mount.fileSystem.add(Array("bad".utf8), .root, 0o150644, RequestCaller.root, &state))
            }
            #expect(try mount.names() == ["bad"])
            let lists = mount.fileSystem.calls("readdirplus")
            eventually("it is forgotten") { mount.fileSystem.calls("forget") == lists }
            #expect(unsafe code(access(mount.path("absent"), F_OK)) == ENOENT, "the entries go on")
        }
    }

    @Test func manyClientsReadBackTheirOwn() throws {
        try Mounted.run { mount in
            let wrong = Atomic<Int>(0)
            let clients = try (0..<16).map { client in
                try HostThread(name: "client") {
                    let content = String(repeating: "\(client) ", count: 20_000)
                    for round in 0..<5 {
                        let name = "\(client).\(round)"
                        guard (try? mount.write(content, to: name)) != nil, (try? mount.text(name)) == content else {
                            wrong.add(1, ordering: .relaxed)
                            continue
                        }
                    }
                }
            }
            for client in clients { client.join() }
            #expect(wrong.load(ordering: .relaxed) == 0)
        }
    }

    @Test(.enabled(if: Mounted.transports.count == 1, "the kernel offers io_uring"))
    func aDemandForIoUringThatTheKernelDoesNotOfferIsOneLine() throws {
        let path = "/tmp/fusebridge.\(getpid())"
        try HostDirectory.make(path)
        defer { try? HostDirectory.remove(path) }
        var options = Session.Options(source: "test", subtype: "memory", otherUsers: false)
        options.transport = .ioUring
        let ends = Atomic<Int>(0)
        let fileSystem = MemoryFileSystem()
        do {
            let session = try Session.mount(fileSystem, at: path, options: options) { ends.add(1, ordering: .relaxed) }
            let isOffered = Mounted.isOffered
            try Session.unmount(path, lazily: true)
            session.waitUntilEnded()
            // Switched on meanwhile.
            #expect(isOffered, "it is mounted")
            return
        } catch let failure {
            #expect(failure.message.contains("does not offer FUSE over io_uring"))
            #expect(failure.message.contains("enable_uring"))
        }
        #expect(try HostPath.status(path).raw.st_dev == HostPath.status("\(path)/..").raw.st_dev, "it is mounted")
        #expect(fileSystem.state.withLock { $0.ended })
        #expect(ends.load(ordering: .relaxed) == 0, "a mount that was refused does not end")
    }
}

extension RequestCaller {
    fileprivate static let root = RequestCaller(user: 0, group: 0, thread: 0)
}
