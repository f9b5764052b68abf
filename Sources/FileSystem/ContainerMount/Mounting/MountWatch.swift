// Notices that the list of mounts has changed, whoever changed it.

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

    /// Ends the thread and waits for it. Not to be called from it.
    func stop() {
        wait.stop()
        thread.join()
    }
}
