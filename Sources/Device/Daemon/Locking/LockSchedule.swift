// The announced locks and the outcome of each: a value without threads and without a clock.

/// Announced locks, numbered from 1. A lock happens at its deadline, unless an unlock cancels it first.
struct LockSchedule {
    enum Outcome {
        case locked, cancelled
    }

    /// The number of the last announced lock.
    private(set) var last = 0
    /// When that lock begins; nil when it has begun, or was cancelled.
    private(set) var deadline: ContinuousClock.Instant?
    /// The number of the last lock that has happened. It decides for earlier ones too: requests that waited for a
    /// cancelled one were woken before.
    private var lockedThrough = 0
    /// The number of the last lock that was cancelled.
    private var cancelledThrough = 0

    /// Announces the next lock.
    /// - Returns: the lock's number.
    mutating func announce(for deadline: ContinuousClock.Instant) -> Int {
        last += 1
        self.deadline = deadline
        return last
    }

    /// Whether this lock is announced and has not begun. A later one has a deadline of its own.
    func isPending(_ number: Int) -> Bool {
        deadline != nil && number == last
    }

    /// Lets time pass for the pending lock.
    /// - Returns: its new deadline; nil when none is pending.
    mutating func pass(_ time: Duration) -> ContinuousClock.Instant? {
        deadline = deadline.map { $0 - time }
        return deadline
    }

    /// Begins the pending lock: from now on an unlock waits for its end.
    mutating func begin() {
        deadline = nil
    }

    /// Ends a lock: the keys are gone. Earlier ones have the same outcome.
    mutating func complete(_ number: Int) {
        lockedThrough = number
    }

    /// Cancels the pending lock, if there is one: the device was unlocked.
    mutating func cancel() {
        guard deadline != nil else { return }
        deadline = nil
        cancelledThrough = last
    }

    /// Counts the pending lock as done: a restart closes the device as the lock would have.
    mutating func restart() {
        guard deadline != nil else { return }
        deadline = nil
        lockedThrough = last
    }

    /// - Returns: nil while the lock is pending or under way.
    func outcome(of number: Int) -> Outcome? {
        if lockedThrough >= number { return .locked }
        return cancelledThrough >= number ? .cancelled : nil
    }

    /// Whether the last lock has neither happened nor been cancelled.
    var isUnderWay: Bool { outcome(of: last) == nil }

    /// The time until the pending lock; nil when there is none.
    func remaining(at now: ContinuousClock.Instant) -> Duration? {
        deadline.map { max(.zero, $0 - now) }
    }
}
