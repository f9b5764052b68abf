// The calls that wait for the end of a mount.

import Synchronization

/// Calls back when a mount ends, by its mount point.
///
/// Lock: its own, held while the caller's check looks at the table of mounts: its lock comes below this one.
/// Callbacks run without it.
final class MountEndWaiters: Sendable {
    /// By mount point.
    private let bodies = Mutex<[String: [@Sendable () -> Void]]>([:])

    /// Calls back when the mount has ended; at once when there is none.
    /// - Parameter isMounted: looks under the lock that ``end(_:)`` takes after a mount is gone, so that no callback
    ///   waits for a mount that has ended.
    func wait(for mountPoint: String, while isMounted: () -> Bool, _ body: @escaping @Sendable () -> Void) {
        let waits = bodies.withLock { bodies in
            guard isMounted() else { return false }
            bodies[mountPoint, default: []].append(body)
            return true
        }
        if !waits { body() }
    }

    /// Calls back those that wait for a mount. The mount has gone from the table.
    func end(_ mountPoint: String) {
        for body in bodies.withLock({ $0.removeValue(forKey: mountPoint) }) ?? [] { body() }
    }
}
