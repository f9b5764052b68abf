// Watches the kernel's list of mounts for changes by any process.

import Platform
import SandboxModel

/// A thread that waits for changes of the list of mounts.
final class MountWatch: Sendable {
    private let thread: HostThread
    private let wait: MountListWait

    /// - Parameter changed: called on the thread after each change.
    init(_ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        let wait = try MountListWait()
        self.wait = wait
        thread = try HostThread(name: "mount-watch") {
            while wait.next() { changed() }
        }
    }

    /// Ends the thread and waits for it. Do not call it from that thread.
    func stop() {
        wait.stop()
        thread.join()
    }
}
