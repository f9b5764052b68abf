// The work that a device does by itself, and when it is due: a value without a clock.

import BackingStore
import SandboxModel

/// The next work of a device's days, by its settings and its state.
struct DayPlan {
    enum Work: Hashable {
        /// The grace period of a lock is over.
        case lock
        /// A scheduled backup.
        case backup
        /// The removal of old items of `tmp`.
        case cleaning
    }

    /// A condition of a scheduled backup.
    enum Condition: String {
        case locked, power, wifi
    }

    /// Work and the time at which it is due, in nanoseconds since 1970 by the device's clock.
    struct Due: Equatable {
        let work: Work
        let time: Int64
    }

    static let second: Int64 = 1_000_000_000
    static let day = 86_400 * second
    /// The age at which an item of `tmp` goes.
    static let oldAge = 3 * day

    let settings: DaySettings
    /// Whether the device is locked, or has no passcode that could lock it.
    let isLocked: Bool
    /// When a pending lock comes; nil for none.
    let lock: Int64?

    /// The conditions that a scheduled backup waits for.
    var missing: [Condition] {
        (isLocked ? [] : [.locked]) + (settings.power ?? true ? [] : [.power])
            + (settings.wifi ?? true ? [] : [.wifi])
    }

    /// When the next backup may be made, whatever the conditions are; nil for none.
    var nextBackup: Int64? {
        settings.backupDirectory == nil ? nil : settings.lastBackup.map { $0 + DayPlan.day }
    }

    /// The work that is due first; nothing is due before the present time.
    func next(at now: Int64) -> Due? {
        let all: [(Work, Int64?)] = [
            (.lock, lock), (.backup, missing.isEmpty ? nextBackup : nil), (.cleaning, settings.nextCleaning),
        ]
        let due = all.compactMap { work, time in time.map { Due(work: work, time: max($0, now)) } }
        return due.min { $0.time < $1.time }
    }
}
