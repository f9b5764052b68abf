// The time of the purger's next look at the host's space.

import Platform
import SandboxModel

/// A timer that looks often while the device is in use, and the more rarely the longer it is not: an idle device costs
/// its host nothing.
struct LookClock {
    /// Facts that change while a device is in use.
    struct Signs: Equatable {
        /// Of the record of use.
        var uses: UInt64
        /// Bytes.
        var used: Int64
    }

    private let timers: Timers
    private var interval = LookClock.shortest
    private var signs: Signs?
    /// Whether the device is in use again since the timer was set; the signs may have been read before.
    private var isUsed = false
    private var cancel: Timers.Cancellation?
    private var isStopped = false

    static let shortest = PurgeSchedule<Never>.lookInterval
    static let longest = Duration.seconds(1280)

    init(_ timers: Timers = .host) {
        self.timers = timers
    }

    /// Sets the timer after a turn, unless it runs.
    /// - Parameter hasLooked: whether the turn was a look; the next one is set then.
    mutating func setNext(hasLooked: Bool, _ signs: Signs, _ look: @escaping @Sendable () -> Void) {
        guard hasLooked || cancel == nil else { return }
        if hasLooked {
            let isQuiet = signs == self.signs && !isUsed
            interval = isQuiet ? min(interval * 8, LookClock.longest) : LookClock.shortest
        }
        self.signs = signs
        isUsed = false
        set(look)
    }

    /// The device is in use again: the next look is soon.
    mutating func setSoon(_ look: @escaping @Sendable () -> Void) {
        isUsed = true
        guard interval > LookClock.shortest else { return }
        interval = LookClock.shortest
        set(look)
    }

    private mutating func set(_ look: @escaping @Sendable () -> Void) {
        cancel?()
        cancel = isStopped ? nil : timers.start(after: interval, look)
    }

    mutating func stop() {
        isStopped = true
        cancel?()
        cancel = nil
    }
}
