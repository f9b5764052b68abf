// The locks that were announced, and what became of each: a value without threads and without a clock of its own.

/// Announced locks, numbered from 1. A lock that was announced happens at its deadline, unless an unlock cancels it.
struct LockSchedule {
    enum Outcome {
        case locked, cancelled
    }

    /// The number of the last announced lock.
    private(set) var last = 0
    /// When it happens; nil when it has begun, or when it was cancelled.
    private(set) var deadline: ContinuousClock.Instant?
    private var lockedThrough = 0
    private var cancelledThrough = 0

    /// - Returns: the lock's number.
    mutating func announce(for deadline: ContinuousClock.Instant) -> Int {
        last += 1
        self.deadline = deadline
        return last
    }

    /// Whether this lock is still to happen. A later one has a deadline of its own.
    func isPending(_ number: Int) -> Bool {
        deadline != nil && number == last
    }

    /// The lock takes the keys away from now on: an unlock comes after it.
    mutating func begin() {
        deadline = nil
    }

    mutating func complete(_ number: Int) {
        lockedThrough = number
    }

    /// An unlock cancels the pending lock, if there is one.
    mutating func cancel() {
        guard deadline != nil else { return }
        deadline = nil
        cancelledThrough = last
    }

    /// A restart closes the device, as the pending lock would have.
    mutating func restart() {
        guard deadline != nil else { return }
        deadline = nil
        lockedThrough = last
    }

    /// - Returns: nil while nothing has become of it.
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
