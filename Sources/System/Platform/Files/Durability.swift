// Whether what this process writes has to survive a power cut.

import Synchronization

/// It has to, unless the process says otherwise: one whose device goes with it says so.
public enum Durability {
    private static let isNeeded = Atomic(true)

    static var isWaived: Bool { !isNeeded.load(ordering: .relaxed) }

    /// From now on nothing is waited for until it is on the disk. What a process that is killed has written is in the
    /// host's memory all the same.
    public static func waive() {
        isNeeded.store(false, ordering: .relaxed)
    }
}
