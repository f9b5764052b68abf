// Watches the kernel's list of mounts for changes by any process.

import Glibc
import Platform
import SandboxModel

/// A thread that waits for changes of the list of mounts.
final class MountWatch: Sendable {
    private let thread: HostThread
    private let wait: MountListWait

    /// - Parameter changed: called on the thread a moment after each change, and once for several.
    init(_ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        let wait = try MountListWait()
        self.wait = wait
        thread = try HostThread(name: "mount-watch") {
            while wait.next() {
                usleep(MountWatch.pause)
                changed()
            }
        }
    }

    /// Microseconds that the thread lets pass, because one mount or unmount is several changes: each is looked at by
    /// the process of each device, and the next waits for them all in the kernel.
    private static let pause: UInt32 = 10_000

    /// Ends the thread and waits for it. Do not call it from that thread.
    func stop() {
        wait.stop()
        thread.join()
    }
}
