// When the purger purges, and when a writer that waits for space gets its answer: a value without threads and
// without a clock of its own.

import SandboxModel

/// The purger's queue and decisions.
///
/// Commands add jobs, writers without space ask and wait, and the ledger reports low space. The purger takes turns:
/// each turn carries out the jobs that were added before it, then at most one purge for writers or for low space, and
/// answers every writer that had asked before it. A purge that found nothing keeps the next one away for a while.
struct PurgeSchedule<Job> {
    /// The time between two looks at the host's space, and between two writings of the record of use.
    static var lookInterval: Duration { .seconds(5) }
    /// Back-off after a fruitless purge.
    static var backOffTime: Duration { .seconds(2) }

    /// The facts on which it depends what may be purged: when they change, a purge that found nothing is worth another
    /// try.
    struct Conditions: Equatable {
        let running: Set<ContainerIdentifier>
        /// Counts openings, closes and creations of files (``UseRecord``).
        let uses: UInt64
    }

    /// A writer's place in the queue.
    struct Ticket {
        fileprivate let number: Int
        fileprivate let bytes: Int64
        fileprivate let freedBefore: Int64
    }

    /// The first answer to a writer.
    enum Admission {
        /// To wait for ``answer(to:available:)``.
        case waits(Ticket)
        /// Not to wait: a purge found nothing a moment ago.
        case backsOff
        /// Not to wait: the purger has ended.
        case stopped
    }

    /// The work of one turn.
    struct Turn {
        let jobs: [Job]
        let isStopped: Bool
        fileprivate let isLow: Bool
        fileprivate let wanted: Int64
        fileprivate let askedThrough: Int
    }

    private(set) var isStopped = false
    private var jobs: [Job] = []
    private var isLow = false
    /// The most that a waiting writer asked for, in bytes.
    private var wanted: Int64 = 0
    /// How many writers have asked, and how many of them have their answer.
    private var asked = 0
    private var answered = 0
    /// Bytes that came free since the device was started.
    private var freed: Int64 = 0
    private var backOff: (until: ContinuousClock.Instant, conditions: Conditions)?
    private var lastLook: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) {
        lastLook = now
    }

    // MARK: Requests

    /// Queues a command's purge.
    /// - Returns: false when the purger has ended.
    mutating func add(_ job: Job) -> Bool {
        guard !isStopped else { return false }
        jobs.append(job)
        return true
    }

    /// Queues a writer that found too little space.
    mutating func ask(
        for bytes: Int64, at now: ContinuousClock.Instant, under conditions: Conditions
    ) -> Admission {
        guard !isBackingOff(at: now, under: conditions) else { return .backsOff }
        guard !isStopped else { return .stopped }
        asked += 1
        wanted = max(wanted, bytes, 1)
        return .waits(Ticket(number: asked, bytes: bytes, freedBefore: freed))
    }

    /// - Parameter available: the bytes that are available now; called only where they decide.
    /// - Returns: whether it is worth writing again; nil while the writer has to wait.
    func answer(to ticket: Ticket, available: () -> Int64) -> Bool? {
        let hasFreed = freed > ticket.freedBefore
        // Space may also have come free after the writer was refused, and before it asked.
        if answered >= ticket.number || isStopped { return hasFreed || available() >= ticket.bytes }
        return hasFreed && available() >= ticket.bytes ? true : nil
    }

    /// Less is available than the low-water mark: the next turn looks at once.
    mutating func reportLowSpace() {
        isLow = true
    }

    mutating func recordFreed(_ bytes: Int64) {
        freed += bytes
    }

    /// Ends the purger: its next turn is the last, and writers wait no longer.
    mutating func stop() {
        isStopped = true
    }

    // MARK: Turns

    /// Takes all that was queued.
    mutating func takeTurn() -> Turn {
        defer {
            jobs = []
            isLow = false
            wanted = 0
        }
        return Turn(jobs: jobs, isStopped: isStopped, isLow: isLow, wanted: wanted, askedThrough: asked)
    }

    /// A command's purge has ended. It may have freed space where a writer was refused.
    mutating func endJob() {
        backOff = nil
    }

    /// Whether it is time for the regular look at the host's space.
    func isTimeToLook(at now: ContinuousClock.Instant) -> Bool {
        now - lastLook >= PurgeSchedule.lookInterval
    }

    mutating func recordLook(at now: ContinuousClock.Instant) {
        lastLook = now
    }

    /// Whether a turn is to purge for writers or for low space, and how far.
    /// - Returns: the bytes that are to be available; nil for no purge.
    func target(
        of turn: Turn, _ levels: PurgeNeed, at now: ContinuousClock.Instant, under conditions: Conditions
    ) -> Int64? {
        guard !isBackingOff(at: now, under: conditions) else { return nil }
        if turn.wanted > 0 { return levels.target(forWriters: turn.wanted) }
        return (turn.isLow || isTimeToLook(at: now)) && levels.isLow ? levels.highWater : nil
    }

    /// The purge of a turn has ended.
    /// - Parameters:
    ///   - isFruitless: whether nothing went, and nothing more may go.
    ///   - conditions: those when it began.
    mutating func endPurge(isFruitless: Bool, at now: ContinuousClock.Instant, under conditions: Conditions) {
        backOff = isFruitless ? (now + PurgeSchedule.backOffTime, conditions) : nil
    }

    /// Answers every writer that had asked when the turn was taken.
    mutating func end(_ turn: Turn) {
        answered = max(answered, turn.askedThrough)
    }

    private func isBackingOff(at now: ContinuousClock.Instant, under conditions: Conditions) -> Bool {
        guard let backOff else { return false }
        return now < backOff.until && conditions == backOff.conditions
    }
}
