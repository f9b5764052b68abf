// Notices that the list of mounts has changed, whoever changed it.

import CPlatform
import Glibc
import Platform
import SandboxModel
import Synchronization

/// A thread that waits for changes of /proc/self/mountinfo (proc_pid_mountinfo(5): POLLERR and POLLPRI).
final class MountWatch: Sendable {
    private let thread: HostThread
    /// Closing it ends the thread.
    private let stopping: Mutex<SharedDescriptor?>

    /// - Parameter changed: called on the thread after each change.
    init(_ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall { unsafe platform_pipe(&ends) }
        let end = SharedDescriptor(Descriptor(owning: ends[0]))
        stopping = Mutex(SharedDescriptor(Descriptor(owning: ends[1])))
        let list = SharedDescriptor(try Descriptor.open(path: "/proc/self/mountinfo", flags: O_RDONLY))
        thread = try HostThread(name: "mount-watch") {
            var requests = [
                pollfd(fd: list.descriptor.number, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: end.descriptor.number, events: 0, revents: 0),
            ]
            while true {
                guard (try? systemCall { unsafe poll(&requests, 2, -1) }) != nil else { return }
                if requests[1].revents != 0 { return }
                if requests[0].revents != 0 { changed() }
            }
        }
    }

    /// Ends the thread and waits for it. Not to be called from it.
    func stop() {
        stopping.withLock { $0 = nil }
        thread.join()
    }
}
