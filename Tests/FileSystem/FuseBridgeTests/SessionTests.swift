// Tests of a session: its start, replies, notifications, workers and end.

import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct SessionTests {
    @Test func theMountShowsItsSourceAndType() throws {
        try Mounted.run { mount in
            let table = String(decoding: try HostPath.contents("/proc/self/mounts"), as: UTF8.self)
            let line = table.split(separator: "\n").first { $0.contains(" \(mount.path) ") }
            #expect(line?.hasPrefix("a,\\040test \(mount.path) fuse.memory rw,nosuid,nodev") == true)
            #expect(line?.contains("default_permissions") == true)
        }
    }

    @Test func aDroppedReplyIsAnInputOutputErrorAndIsReported() throws {
        try Mounted.run { mount in
            mount.fileSystem.state.withLock { $0.forgetful = "lookup" }
            #expect(unsafe code(access(mount.path("a"), F_OK)) == EIO)
            #expect(unsafe code(access(mount.path("b"), F_OK)) == EIO)
            let dropped = mount.fileSystem.state.withLock { $0.dropped }
            #expect(dropped.count == 1, "one a minute")
            #expect(dropped.first?.contains("FUSE request 1 of thread ") == true)
            mount.fileSystem.state.withLock { $0.forgetful = nil }
            #expect(unsafe code(access(mount.path("a"), F_OK)) == ENOENT)
        }
    }

    @Test(arguments: [1, 3, 7]) func slowRequestsDoNotKeepOthersWaiting(count: Int) throws {
        try Mounted.run { mount in
            let fileSystem = mount.fileSystem
            // Over io_uring a worker that is added needs a file that the kernel knows.
            try mount.write("content", to: "known")
            // One worker serves sequential requests; the others sleep.
            for index in 0..<20 { _ = unsafe access(mount.path("before\(index)"), F_OK) }
            fileSystem.state.withLock { $0.slowPrefix = Array("slow".utf8) }
            let slow = try (0..<count).map { index in
                try HostThread(name: "slow") { _ = unsafe access(mount.path("slow\(index)"), F_OK) }
            }
            // If no worker serves the others, the slow lookups go on after a while, so that the test ends.
            let isAnswered = Atomic<Bool>(false)
            let gaveUp = Atomic<Bool>(false)
            let patience = try HostThread(name: "patience") {
                for _ in 0..<500 where !isAnswered.load(ordering: .relaxed) { usleep(10_000) }
                gaveUp.store(!isAnswered.load(ordering: .relaxed), ordering: .relaxed)
                for _ in 0..<count { fileSystem.goOn.signal() }
            }
            while fileSystem.state.withLock({ $0.slowLookups }) < count, !gaveUp.load(ordering: .relaxed) {
                usleep(1000)
            }
            for index in 0..<20 {
                #expect(unsafe code(access(mount.path("absent\(index)"), F_OK)) == ENOENT)
            }
            isAnswered.store(true, ordering: .relaxed)
            patience.join()
            for thread in slow { thread.join() }
            let inTime = !gaveUp.load(ordering: .relaxed)
            #expect(inTime)
        }
    }

    @Test func whatTheKernelKnowsIsNotAskedAgain() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            let lookups = mount.fileSystem.calls("lookup")
            for _ in 0..<10 {
                #expect(unsafe access(mount.path("a"), F_OK) == 0)
                #expect(unsafe code(access(mount.path("absent"), F_OK)) == ENOENT)
            }
            #expect(mount.fileSystem.calls("lookup") == lookups + 1, "the absent name, once")
            let reads = mount.fileSystem.calls("read")
            for _ in 0..<10 { #expect(try mount.text("a") == "x") }
            #expect(mount.fileSystem.calls("read") <= reads + 1, "content stays cached from open to open")
        }
    }

    @Test func capabilitiesAreAskedForOnceAFileNotOnceAWrite() throws {
        try Mounted.run { mount in
            for _ in 0..<10 {
                try mount.write("x", to: "a", flags: O_CREAT | O_WRONLY | O_APPEND)
                let file = try Descriptor.open(path: mount.path("a"), flags: O_RDONLY)
                try file.synchronize()
            }
            #expect(mount.fileSystem.calls("write") >= 10)
            #expect(mount.fileSystem.calls("getxattr") <= 1)
        }
    }

    @Test func aNotificationMakesTheKernelAskAgain() throws {
        try Mounted.run { mount in
            try mount.write("before", to: "a")
            #expect(try mount.text("a") == "before")
            #expect(try mount.names() == ["a"])
            let node = mount.fileSystem.replaceContent(of: "a", with: "after!")
            #expect(try mount.text("a") == "before")
            mount.session.notifications.forgetContent(of: node)
            mount.session.notifications.drain()
            #expect(try mount.text("a") == "after!")

            mount.fileSystem.removeBehindTheKernel("a")
            #expect(unsafe access(mount.path("a"), F_OK) == 0)
            mount.session.notifications.forgetEntry(Array("a".utf8), in: .root)
            mount.session.notifications.drain()
            #expect(unsafe code(access(mount.path("a"), F_OK)) == ENOENT)
            #expect(try mount.names() == [])
        }
    }

    @Test func aNameExpiresAndWhatIsCachedBelowItStays() throws {
        try Mounted.run { mount in
            try mount.write("before", to: "a")
            #expect(try mount.text("a") == "before")
            _ = mount.fileSystem.replaceContent(of: "a", with: "after!")
            let lookups = mount.fileSystem.calls("lookup")
            #expect(unsafe access(mount.path("a"), F_OK) == 0)
            #expect(mount.fileSystem.calls("lookup") == lookups)
            mount.session.notifications.expireEntry(Array("a".utf8), in: .root)
            mount.session.notifications.drain()
            #expect(try mount.text("a") == "before")
            #expect(mount.fileSystem.calls("lookup") == lookups + 1)
        }
    }

    @Test func aNameThatIsBackWhenItsTurnComesStaysKnown() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            let lookups = mount.fileSystem.calls("lookup")
            mount.session.notifications.forgetEntry(Array("a".utf8), in: .root) { true }
            mount.session.notifications.drain()
            #expect(unsafe access(mount.path("a"), F_OK) == 0)
            #expect(mount.fileSystem.calls("lookup") == lookups)
        }
    }

    @Test func whatTheKernelDoesNotKnowCanBeNotified() throws {
        try Mounted.run { mount in
            mount.session.notifications.forgetContent(of: KernelNode(rawValue: 4711))
            mount.session.notifications.forgetEntry(Array("nothing".utf8), in: KernelNode(rawValue: 4711))
            mount.session.notifications.drain()
            try mount.write("x", to: "a")
            #expect(try mount.text("a") == "x")
        }
    }

    @Test func everyHandleIsClosedOnce() throws {
        var fileSystem: MemoryFileSystem?
        try Mounted.run { mount in
            fileSystem = mount.fileSystem
            for index in 0..<20 { try mount.write("x", to: "file \(index)") }
            // close(2) does not wait for RELEASE.
            for index in 0..<20 {
                #expect(mount.fileSystem.hasClosed.wait(milliseconds: 10_000), "\(index) files were closed, not 20")
            }
        }
        // The session has ended: none is closed any more.
        #expect(fileSystem?.calls("close") == 20)
        #expect(fileSystem?.state.withLock { $0.openFiles } == 0)
    }

    @Test func anEndedSessionLeavesNoThreadBehind() throws {
        func stacks() throws -> Int {
            let status = try HostPath.contents("/proc/self/status")
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmSize:") }
            return try #require(line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }) / 1024
        }
        try Mounted.run { _ in }
        let before = try stacks()
        for _ in 0..<30 { try Mounted.run { _ in } }
        // MiB. The stack of a thread that nobody joined stays: 8 MiB for each session.
        #expect(try stacks() < before + 120)
    }

    @Test func aMountWithoutItsThreadsIsNone() throws {
        func hasThreads() throws -> Bool {
            let reader = DirectoryReader(try Descriptor.open(path: "/proc/self/task", flags: O_RDONLY | O_DIRECTORY))
            while let thread = try reader.next() {
                let name = try? HostPath.contents("/proc/self/task/\(thread.name.text)/comm")
                if name?.starts(with: "fuse-".utf8) == true { return true }
            }
            return false
        }
        let path = "/tmp/fusebridge.\(getpid())"
        try HostDirectory.make(path)
        defer { try? HostDirectory.remove(path) }
        let options = Session.Options(source: "test", subtype: "memory", otherUsers: false)
        let fileSystem = MemoryFileSystem(timeout: 1)
        // Stacks of threads that have ended are used again: these have all of them.
        let mayEnd = Monitor(false)
        let threads = try (0..<16).map { _ in try HostThread(name: "stack") { mayEnd.wait { $0 ? () : nil } } }
        defer {
            mayEnd.access { $0 = true }
            for thread in threads { thread.join() }
        }
        // Room for the memory of the requests, but not for a stack besides.
        try AddressSpace.limited(toFurther: 14 << 20) {
            #expect { try Session.mount(fileSystem, at: path, options: options) } throws: {
                ($0 as? MountFailure)?.message.contains("no thread could be made") == true
            }
        }
        #expect(try HostPath.status(path).raw.st_dev == HostPath.status("\(path)/..").raw.st_dev, "it is mounted")
        // The kernel tells of a thread's end before /proc is without it.
        try eventually("the end of the threads") { try !hasThreads() }
        #expect(fileSystem.state.withLock { $0.ended })
        let session = try Session.mount(fileSystem, at: path, options: options)
        try Session.unmount(path, lazily: false)
        session.waitUntilEnded()
    }

    @Test func aBusyMountStaysUnlessItIsLazy() throws {
        var fileSystem: MemoryFileSystem?
        try Mounted.run { mount in
            fileSystem = mount.fileSystem
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            #expect { try Session.unmount(mount.path, lazily: false) } throws: {
                ($0 as? MountFailure)?.kind == .busy
            }
            try Session.unmount(mount.path, lazily: true)
            #expect(unsafe code(access(mount.path("a"), F_OK)) == ENOENT)
            try file.append(Array("still here".utf8))
            try file.synchronize()
            #expect(mount.fileSystem.state.withLock { !$0.ended })
        }
        #expect(fileSystem?.state.withLock { $0.ended && $0.openFiles == 0 } == true)
    }

    @Test func aSessionStopsThoughItIsInUse() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            mount.session.stop()
            #expect(throws: SystemError(code: ENOTCONN)) { try file.synchronize() }
            #expect(unsafe code(access(mount.path("b"), F_OK)) == ENOTCONN)
            #expect(mount.fileSystem.state.withLock { $0.ended && $0.openFiles == 0 })
        }
    }

    @Test func aMountIsAbandonedThoughTheKernelLetsGoOfItAMomentLater() throws {
        try Mounted.run { mount in
            // As calls of the moment between the death of a process and the end of its connection.
            mount.fileSystem.state.withLock { $0.statisticsFailure = ECANCELED }
            let end = try HostThread(name: "end") {
                eventually("it is asked again") { mount.fileSystem.calls("statfs") > 1 }
                mount.session.stop()
            }
            #expect(HostMount.isAbandoned(mount.path))
            end.join()
        }
    }

    @Test(.enabled(if: geteuid() == 0, "a second mount is for privileged processes"))
    func oneSuperblockCanBeMountedTwice() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            let second = mount.path + ".second"
            try #require(unsafe mkdir(second, 0o700) == 0)
            defer { unsafe rmdir(second) }
            try mount.session.mountAgain(source: "other", at: second)
            #expect(try String(decoding: HostPath.contents(second + "/a"), as: UTF8.self) == "x")
            #expect(try HostPath.status(second).raw.st_dev == HostPath.status(mount.path).raw.st_dev)
            try Session.unmount(second, lazily: false)
            #expect(try mount.text("a") == "x", "the session goes on while a mount is left")
        }
    }

    @Test func aMountPointThatIsNone() throws {
        func failure(_ path: String) -> MountFailure? {
            do {
                _ = try Session.mount(
                    MemoryFileSystem(), at: path,
                    options: Session.Options(source: "a", subtype: "memory", otherUsers: false))
                return nil
            } catch {
                return error
            }
        }
        #expect(failure("/nowhere/at/all")?.kind == .mountPoint)
        #expect(failure("/nowhere/at/all")?.message == "/nowhere/at/all does not exist: make the directory first")
        #expect(failure("/etc/passwd")?.kind == .mountPoint)
    }

    @Test func manyThreadsAtOnce() throws {
        try Mounted.run(timeout: 0) { mount in
            let threads = try (0..<8).map { thread in
                try HostThread(name: "client-\(thread)") {
                    for index in 0..<200 {
                        let name = "\(thread).\(index % 10)"
                        try? mount.write("\(thread) \(index)", to: name)
                        let text = try? mount.text(name)
                        if text != "\(thread) \(index)" { Issue.record("\(name): \(text ?? "nothing")") }
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(try mount.names().count == 80)
        }
    }
}

/// RLIMIT_AS of this process, lowered for a moment: threads find no memory for their stacks.
private enum AddressSpace {
    static func limited(toFurther bytes: UInt, _ body: () throws -> Void) throws {
        let status = String(decoding: try HostPath.contents("/proc/self/statm"), as: UTF8.self)
        let pages = try #require(status.split(separator: " ").first.flatMap { UInt($0) })
        var old = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old) == 0)
        var new = rlimit(rlim_cur: pages * 4096 + bytes, rlim_max: old.rlim_max)
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &new) == 0)
        defer { unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old) }
        try body()
    }
}
