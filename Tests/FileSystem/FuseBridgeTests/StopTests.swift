// Tests of a session that is stopped while notifications are on their way.

import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import FuseBridge

@Suite(.serialized) struct StopTests {
    /// The kernel takes the directory's lock for the notification, and the caller of a lookup holds it.
    @Test func aStopFreesANotificationThatWaitsForARequest() throws {
        try Mounted.run { mount in
            mount.fileSystem.state.withLock { $0.slowPrefix = Array("slow".utf8) }
            let isFreed = Atomic<Bool>(false)
            let client = try HostThread(name: "client") {
                _ = unsafe access(mount.path("slow"), F_OK)
                isFreed.store(true, ordering: .relaxed)
            }
            eventually("the lookup is under way") { mount.fileSystem.state.withLock { $0.slowLookups } == 1 }
            mount.session.notifications.forgetEntry(Array("a".utf8), in: .root)
            eventually("the notification waits") { ThreadState.isBlocked("fuse-names") }
            let stop = try HostThread(name: "stop") { mount.session.stop() }
            eventually("the caller is freed") { isFreed.load(ordering: .relaxed) }
            mount.fileSystem.goOn.signal()
            stop.join()
            client.join()
            #expect(mount.fileSystem.state.withLock { $0.failures } == [])
        }
    }

    /// A caller that waits for the lock comes before the notification, and its request after the beginning of the stop.
    @Test func aStopServesTheRequestsThatANotificationWaitsFor() throws {
        try Mounted.run { mount in
            mount.fileSystem.state.withLock { $0.slowPrefix = Array("slow".utf8) }
            let holder = try HostThread(name: "holder") { _ = unsafe access(mount.path("slow"), F_OK) }
            eventually("the lookup is under way") { mount.fileSystem.state.withLock { $0.slowLookups } == 1 }
            let maker = try HostThread(name: "maker") { _ = unsafe mkdir(mount.path("a"), 0o700) }
            eventually("the other caller waits") { ThreadState.isBlocked("maker") }
            mount.session.notifications.forgetEntry(Array("b".utf8), in: .root)
            eventually("the notification waits") { ThreadState.isBlocked("fuse-names") }
            let stop = try HostThread(name: "stop") { mount.session.stop() }
            eventually("the stop begins") { !mount.session.notifications.forgetContent(of: .root) }
            mount.fileSystem.goOn.signal()
            for thread in [holder, maker, stop] { thread.join() }
        }
    }

    @Test func whatWaitsAtTheEndIsDroppedUnlessSomebodyWaitsForIt() throws {
        let queue = NotificationQueue("queue")
        let sent = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        let (hasBegun, mayGoOn) = (Semaphore(), Semaphore())
        let count: @Sendable (Connection) -> Void = { _ in sent.add(1, ordering: .relaxed) }
        queue.start(unsafe Connection(session: OpaquePointer(bitPattern: 1)!))
        queue.add(
            .init(send: { _ in
                hasBegun.signal()
                mayGoOn.wait()
            }))
        hasBegun.wait()
        for _ in 0..<10 { queue.add(.init(send: count)) }
        queue.add(.init(send: count, then: { done.add(1, ordering: .relaxed) }))
        queue.close()
        #expect(!queue.isIdle())
        #expect(!queue.add(.init(send: count)), "the queue is closed")
        mayGoOn.signal()
        queue.stop()
        #expect(queue.isIdle())
        #expect(sent.load(ordering: .relaxed) == 1)
        #expect(done.load(ordering: .relaxed) == 1)
    }
}

/// States of this process's threads, as proc_pid_stat(5) has them.
private enum ThreadState {
    /// Whether a thread of that name waits in the kernel for a lock.
    static func isBlocked(_ name: String) -> Bool {
        guard let directory = try? Descriptor.open(path: "/proc/self/task", flags: O_RDONLY | O_DIRECTORY) else {
            return false
        }
        let reader = DirectoryReader(directory)
        while let thread = try? reader.next() {
            guard let status = try? HostPath.contents("/proc/self/task/\(thread.name.text)/stat") else { continue }
            if String(decoding: status, as: UTF8.self).contains(" (\(name)) D ") { return true }
        }
        return false
    }
}
