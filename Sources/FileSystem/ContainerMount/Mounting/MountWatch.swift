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
            var pace = MountWatchPace()
            while wait.next() {
                usleep(pace.pause(at: .now))
                changed()
            }
        }
    }

    /// Ends the thread and waits for it. Do not call it from that thread.
    func stop() {
        wait.stop()
        thread.join()
    }
}

/// The time to let pass after a change. One mount or unmount is several changes, and each is looked at by the process
/// of each device of the host: where hundreds of devices come and go, they would be busy with nothing else.
struct MountWatchPace {
    private var last: ContinuousClock.Instant?
    private var pause = MountWatchPace.shortest

    /// Microseconds.
    static let shortest: UInt32 = 10_000
    static let longest: UInt32 = 320_000
    /// A change that comes so long after the last one is the first of others.
    static let quiet = Duration.seconds(1)

    /// - Returns: microseconds: longer with each change of many, and short after a quiet time.
    mutating func pause(at now: ContinuousClock.Instant) -> UInt32 {
        let isOneOfMany = last.map { now - $0 < MountWatchPace.quiet } ?? false
        last = now
        pause = isOneOfMany ? min(2 * pause, MountWatchPace.longest) : MountWatchPace.shortest
        return pause
    }
}
