// Who purges, and when: one thread, which commands, writers without room and the clock wake.
// Locks: `state` is taken for moments, by writers too, and nothing of the volume or the store is called under it but to
// ask how much space is available. The thread holds none of it while it purges.

import BackingStore
import Platform
import SandboxModel
import Synchronization

/// Purges what may go, one purge at a time.
final class Purger: SpaceRelief {
    private struct Job {
        let order: PurgeOrder
        let goOn: @Sendable (Int) -> Bool
        let ended: @Sendable (PurgeOutcome) -> Void
    }

    /// A purge that found nothing to take is not tried again at once, unless there may be something now: an app has
    /// ended, or a file was closed or made.
    private struct Quiet {
        let until: ContinuousClock.Instant
        let running: Set<ContainerIdentifier>
        let uses: UInt64
    }

    private struct State {
        var jobs: [Job] = []
        var isLow = false
        /// The most that a writer waits for.
        var wanted: Int64 = 0
        /// How many writers have begun to wait, and how many of them were answered.
        var asked = 0
        var answered = 0
        /// Bytes that came free since the device was started.
        var freed: Int64 = 0
        var quiet: Quiet?
        var isStopped = false
        var run: PurgeRun?
    }

    private let state = Monitor(State())
    private let wake = Semaphore()
    private let thread = Mutex<HostThread?>(nil)
    private let running: RunningApps
    private let space: SpaceLedger
    private let uses: UseRecord
    private let figure = Mutex<Figure?>(nil)

    /// Between two looks at the host, and between two writings of the record of use.
    private static let interval = Duration.seconds(5)
    /// For how long a purge that found nothing keeps the next one away.
    private static let quietTime = Duration.seconds(2)

    init(running: RunningApps, space: SpaceLedger, uses: UseRecord) {
        self.running = running
        self.space = space
        self.uses = uses
    }

    // MARK: The thread

    /// - Parameters:
    ///   - run: carries purges out.
    ///   - first: done on the thread before anything else; it looks now and then whether it is to go on.
    func start(_ run: PurgeRun, first: @escaping @Sendable (() -> Bool) -> Void) throws(SystemError) {
        state.access { $0.run = run }
        let thread = try HostThread(name: "purge") { [self] in
            first { !state.access { $0.isStopped } }
            work(run)
        }
        self.thread.withLock { $0 = thread }
    }

    /// Ends the thread. Whoever waits for room is told that there is none.
    func stop() {
        state.access { state in
            state.isStopped = true
            state.run = nil
        }
        wake.signal()
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }?.join()
    }

    private func work(_ run: PurgeRun) {
        var lastLook = ContinuousClock.now
        while true {
            _ = wake.wait(milliseconds: Int(Purger.interval.components.seconds) * 1000)
            let (jobs, isLow, asked, wanted, isStopped) = state.access { state in
                defer {
                    state.jobs = []
                    state.isLow = false
                    state.wanted = 0
                }
                return (state.jobs, state.isLow, state.asked, state.wanted, state.isStopped)
            }
            for job in jobs {
                job.ended(run(job.order) { done in !self.isStopped && job.goOn(done) })
                // It may have found what a writer was told that there is not.
                state.access { $0.quiet = nil }
            }
            guard !isStopped else { return }
            let isTime = ContinuousClock.now - lastLook >= Purger.interval
            if wanted > 0 {
                relieve(run, until: max(wanted, space.highWater))
            } else if isLow || isTime, space.figures.available < space.lowWater {
                relieve(run, until: space.highWater)
            }
            state.access { $0.answered = max($0.answered, asked) }
            if isTime {
                uses.writeDown()
                lastLook = .now
            }
        }
    }

    private var isStopped: Bool { state.access { $0.isStopped } }

    private func relieve(_ run: PurgeRun, until target: Int64) {
        guard !isQuiet else { return }
        let (running, uses) = (running.all, uses.serial)
        let outcome = run(PurgeOrder(.available(target), isReported: false)) { _ in !self.isStopped }
        run.forgetWithdrawn()
        // What is available may have become less since it was found to be enough.
        let isFruitless = outcome.purged.isEmpty && outcome.isExhausted
        state.access { state in
            state.quiet =
                isFruitless
                ? Quiet(until: ContinuousClock.now + Purger.quietTime, running: running, uses: uses) : nil
        }
    }

    private var isQuiet: Bool {
        guard let quiet = state.access({ $0.quiet }) else { return false }
        return ContinuousClock.now < quiet.until && uses.serial == quiet.uses && running.all == quiet.running
    }

    // MARK: Commands

    /// Carries out a purge on the thread, and waits for its end.
    /// - Parameter goOn: told how many units have gone; false ends it.
    /// - Returns: nil when the device ends before its turn comes.
    func purge(_ order: PurgeOrder, goOn: @escaping @Sendable (Int) -> Bool) -> PurgeOutcome? {
        let outcome = Monitor<PurgeOutcome?>(nil)
        let job = Job(order: order, goOn: goOn) { ended in outcome.access { $0 = ended } }
        let isTaken = state.access { state in
            guard !state.isStopped else { return false }
            state.jobs.append(job)
            return true
        }
        guard isTaken else { return nil }
        wake.signal()
        return outcome.wait { $0 }
    }

    /// Has the kernel let go of what it caches of all that commands have purged.
    func forgetWithdrawn() { state.access { $0.run }?.forgetWithdrawn() }

    // MARK: SpaceRelief

    func spaceIsLow() {
        state.access { $0.isLow = true }
        wake.signal()
    }

    func makeRoom(for bytes: Int64) -> Bool {
        guard !isQuiet else { return hasRoom(for: bytes) }
        let ticket = state.access { state -> (number: Int, freed: Int64)? in
            guard !state.isStopped else { return nil }
            state.asked += 1
            state.wanted = max(state.wanted, max(bytes, 1))
            return (state.asked, state.freed)
        }
        guard let ticket else { return false }
        wake.signal()
        return state.wait { state in
            let hasFreed = state.freed > ticket.freed
            if state.answered >= ticket.number || state.isStopped { return hasFreed || hasRoom(for: bytes) }
            return hasFreed && hasRoom(for: bytes) ? true : nil
        }
    }

    /// Also when it came free after the call was refused, and before anybody was asked.
    private func hasRoom(for bytes: Int64) -> Bool { space.figures.available >= bytes }

    // MARK: What is purgeable

    /// How many bytes are purgeable, as it was found once.
    private struct Figure {
        let bytes: Int64
        let time: ContinuousClock.Instant
        /// How long it took to find out.
        let effort: Duration
        // What changes when it may have become another.
        let used: Int64
        let uses: UInt64
        let running: Set<ContainerIdentifier>
    }

    /// A figure is good for a second when nothing is known to have changed. While files change it is found out again for
    /// a tenth of the time, and no more.
    var purgeable: Int64 {
        guard let run = state.access({ $0.run }) else { return 0 }
        return figure.withLock { figure in
            let begin = ContinuousClock.now
            let (used, uses, running) = (space.used, uses.serial, running.all)
            if let figure {
                let age = begin - figure.time
                let isSame = figure.used == used && figure.uses == uses
                if figure.running == running, age < (isSame ? .seconds(1) : figure.effort * 10) { return figure.bytes }
            }
            let bytes = run.purgeableBytes()
            figure = Figure(
                bytes: bytes, time: begin, effort: ContinuousClock.now - begin, used: used, uses: uses, running: running
            )
            return bytes
        }
    }

    /// To be called for bytes that came free.
    func note(freed bytes: Int64) {
        state.access { $0.freed += bytes }
    }
}
