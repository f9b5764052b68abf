// Waiting for a change of the mount list.

import CPlatform
import Glibc
public import SandboxModel

/// Waits by `poll(2)` on /proc/self/mountinfo until something is mounted or unmounted, or until ``stop()``.
public final class MountListWait: Sendable {
    private let list: Descriptor
    private let ended: Descriptor
    /// The writing end of a pipe; closing it ends the waiting.
    private let end: Monitor<SharedDescriptor?>

    public init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall { unsafe platform_pipe(&ends) }
        ended = Descriptor(owning: ends[0])
        end = Monitor(SharedDescriptor(Descriptor(owning: ends[1])))
        list = try Descriptor.open(path: "/proc/self/mountinfo", flags: O_RDONLY)
    }

    /// `poll(2)`.
    /// - Returns: true after a change, false after ``stop()``.
    public func next() -> Bool {
        var requests = [
            pollfd(fd: list.number, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: ended.number, events: 0, revents: 0),
        ]
        while (try? systemCall { unsafe poll(&requests, 2, -1) }) != nil {
            if requests[1].revents != 0 { return false }
            if requests[0].revents != 0 { return true }
        }
        return false
    }

    /// Makes every call of ``next()`` return false from now on.
    public func stop() {
        end.access { $0 = nil }
    }
}
