// The time that an app has in the background: a value without threads and without a clock.

/// The end of a stay in the background, and the notice before it.
struct BackgroundTime {
    /// When it is over.
    private(set) var deadline: ContinuousClock.Instant
    /// When background tasks are told that it ends.
    private(set) var notice: ContinuousClock.Instant
    /// Whether the notice has been taken.
    private(set) var isToldOf = false

    /// The time before the end at which tasks are told of it. UIKit's documentation says "shortly before".
    static let warning = Duration.seconds(5)

    /// - Parameter length: in a short one half of the time is left when tasks are told.
    init(_ length: Duration, from now: ContinuousClock.Instant) {
        deadline = now + length
        notice = deadline - min(length / 2, BackgroundTime.warning)
    }

    /// Lets time pass.
    mutating func pass(_ time: Duration) {
        deadline -= time
        notice -= time
    }

    /// When there is something to do next.
    var next: ContinuousClock.Instant { isToldOf ? deadline : notice }

    func isOver(at now: ContinuousClock.Instant) -> Bool { now >= deadline }

    /// The time that is left.
    func remaining(at now: ContinuousClock.Instant) -> Duration { max(.zero, deadline - now) }

    /// Takes the notice, once, when it is due.
    /// - Returns: the time that tasks are told to have left; nil when nothing is to be told.
    mutating func takeNotice(at now: ContinuousClock.Instant) -> Duration? {
        guard !isToldOf, now >= notice else { return nil }
        isToldOf = true
        return notice < deadline ? deadline - notice : nil
    }
}
