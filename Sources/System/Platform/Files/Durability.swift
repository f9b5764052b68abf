// Whether the writes of this process have to survive a power cut.

import Synchronization

/// On by default. A process whose device is deleted with it turns it off.
public enum Durability {
    private static let isNeeded = Atomic(true)

    static var isWaived: Bool { !isNeeded.load(ordering: .relaxed) }

    /// Turns fsync(2) and syncfs(2) of this process into no-ops. Writes of a killed process still reach the host's page
    /// cache.
    /// Cannot be undone.
    public static func waive() {
        isNeeded.store(false, ordering: .relaxed)
    }
}
