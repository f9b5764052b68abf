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

    /// A condition of a scheduled backup. The raw value is that of the control API.
    enum Condition: String {
        case locked, firstUnlock, power, wifi
    }

    /// Work and the time at which it is due, in nanoseconds since 1970 by the device's clock.
    struct Due: Equatable {
        let work: Work
        let time: Int64

        /// Whether a backup is written, which is due before an advance of the clock ends. Nobody can look at it before,
        /// and of a phone's backups a later one takes the place of an earlier one.
        func isWritten(until target: Int64?) -> Bool {
            target.map { time > $0 - Int64(DayPlan.writtenBackups) * DayPlan.day } ?? true
        }
    }

    static let second: Int64 = 1_000_000_000
    static let hour = 3_600 * second
    static let day = 24 * hour
    /// The age at which an item of `tmp` goes.
    static let oldAge = 3 * day
    /// Of the backups that are due in one advance of the clock, so many are written at most: the last ones.
    static let writtenBackups = 7

    let settings: DaySettings
    /// When a pending lock comes; nil for none.
    let lock: Int64?
    /// The state of the device; `locked` for one without a passcode, which nothing can lock.
    let protection: DeviceState

    /// The conditions that a scheduled backup waits for now.
    var missing: [Condition] {
        var missing: [Condition] =
            switch protection {
            case .locked: []
            case .beforeFirstUnlock: [.firstUnlock]
            case .unlocked, .locking: [.locked]
            }
        if settings.power == false { missing.append(.power) }
        if settings.wifi == false { missing.append(.wifi) }
        return missing
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

    /// When `tmp` is looked through again: once an hour at most, and an advance that ends earlier looks at its end.
    ///
    /// - Parameters:
    ///   - target: the end of the advance that is under way; nil for none.
    ///   - due: when each item that stayed is old enough; nil for one that stayed for another reason.
    ///   - daily: whether to look each day, whatever there is.
    static func nextCleaning(after now: Int64, until target: Int64?, due: [Int64?], daily: Bool) -> Int64 {
        // Nothing that is new can be old before. During an advance nothing becomes new, and nobody begins or ends to
        // use anything: its end is early enough for another look.
        let old = due.compactMap(\.self).min() ?? max(now + oldAge, target ?? 0)
        var next = max(old, min(now + hour, max(target ?? .max, now + second)))
        if due.contains(nil) { next = min(next, max(now + day, target ?? 0)) }
        guard daily else { return next }
        // An advance of a century takes no longer than one of a year.
        return min(next, now + max(day, ((target ?? 0) - now) / 366))
    }
}
