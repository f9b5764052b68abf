// The purger's turns, which commands, writers without space and the clock ask for. PurgeSchedule decides what a turn
// does.
// Locks: that of `state`, for moments, by writers too; nothing of the volume or the store is called under it but to ask
// how much space is available. `estimate` is held while containers are walked. `clock` is a leaf. A turn holds none of
// them while it purges.

public import BackingStore
public import DeviceLifecycle
import Glibc
import Platform
public import SandboxModel
import Synchronization

/// Purges what may go, one purge at a time.
public final class Purger: SpaceRelief {
    private struct Job {
        let order: PurgeOrder
        let goOn: @Sendable (Int) -> Bool
        let ended: @Sendable (PurgeOutcome) -> Void
    }

    private struct State {
        var schedule = PurgeSchedule<Job>(at: .now)
        /// nil before the start and after the end.
        var run: PurgeRun?
        /// Whether the first turn has begun.
        var isBegun = false
    }

    private let state = Monitor(State())
    /// nil before the start and after the end.
    private let turns = Mutex<RepeatedWork?>(nil)
    private let clock = Mutex(LookClock())
    private let estimate = Mutex(PurgeableEstimate())
    private let device: BootedDevice
    private let environment: any PurgeEnvironment

    private var space: SpaceLedger { device.context.space }
    private var uses: UseRecord { device.context.uses }

    public init(_ device: BootedDevice, in environment: any PurgeEnvironment) {
        self.device = device
        self.environment = environment
    }

    // MARK: Turns

    /// Begins. The first turn removes entries that an earlier session left in the trash.
    /// - Throws: ``Complaint`` where the trash cannot be opened.
    public func start() throws(Complaint) {
        try Complaint.wrap("cannot prepare purging on \(device.directory.path)") { () throws(SystemError) in
            let run = PurgeRun(
                device: device, trash: try Trash(in: device.directory.root, space: space), environment: environment,
                recordFreed: { [self] bytes in state.access { $0.schedule.recordFreed(bytes) } })
            state.access { state in
                state.run = run
                state.schedule.recordLook(at: .now)
            }
            turns.withLock { $0 = RepeatedWork { [self] in takeTurn(run) } }
            uses.whenUsed { [self] in lookSoon() }
            wake()
        }
    }

    /// Ends the turns. Writers that wait get the answer that there is no space.
    public func stop() {
        state.access { state in
            state.schedule.stop()
            state.run = nil
        }
        wake()
        turns.withLock { $0.take() }?.end()
        uses.whenUsed {}
        clock.withLock { $0.stop() }
    }

    private func wake() { turns.withLock { $0 }?.request() }

    private func takeTurn(_ run: PurgeRun) {
        let isFirst = state.access { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
        if isFirst { emptyTrash() }
        let turn = state.access { $0.schedule.takeTurn() }
        for job in turn.jobs {
            job.ended(run(job.order) { done in !self.isStopped && job.goOn(done) })
            state.access { $0.schedule.endJob() }
        }
        guard !turn.isStopped else { return }
        let isTimeToLook = state.access { $0.schedule.isTimeToLook(at: .now) }
        relieve(in: turn, run)
        state.access { $0.schedule.end(turn) }
        if isTimeToLook {
            uses.writeDown()
            state.access { $0.schedule.recordLook(at: .now) }
        }
        let signs = LookClock.Signs(uses: uses.serial, used: space.used)
        clock.withLock { $0.setNext(hasLooked: isTimeToLook, signs) { self.wake() } }
    }

    /// Something is used again after a quiet time.
    private func lookSoon() {
        clock.withLock { $0.setSoon { self.wake() } }
    }

    private func emptyTrash() {
        do throws(SystemError) {
            try device.directory.emptyTrash(while: { !isStopped })
        } catch {
            environment.logTrashFailure(error)
        }
    }

    private var isStopped: Bool { state.access { $0.schedule.isStopped } }

    /// Purges for writers or for low space, where the schedule says so.
    private func relieve(in turn: PurgeSchedule<Job>.Turn, _ run: PurgeRun) {
        let (levels, conditions) = (PurgeNeed(of: space), conditions)
        let target = state.access { $0.schedule.target(of: turn, levels, at: .now, under: conditions) }
        guard let target else { return }
        let outcome = run(PurgeOrder(.available(target), isReported: false)) { _ in !self.isStopped }
        run.forgetWithdrawn()
        // The available space may have become less since it was enough: then the purge is not exhausted.
        let isFruitless = outcome.purged.isEmpty && outcome.isExhausted
        state.access { $0.schedule.endPurge(isFruitless: isFruitless, at: .now, under: conditions) }
    }

    private var conditions: PurgeSchedule<Job>.Conditions {
        PurgeSchedule<Job>.Conditions(running: environment.runningApps, uses: uses.serial)
    }

    // MARK: Commands

    /// Carries out a purge in a turn, and waits for its end. Entries in which a file is open are tried twice.
    /// - Parameter goOn: gets the number of entries that have gone; false ends the purge.
    /// - Returns: nil when the device ends before the purge's turn comes.
    public func purge(_ order: PurgeOrder, goOn: @escaping @Sendable (Int) -> Bool) -> PurgeOutcome? {
        guard let first = purgeOnce(order, goOn: goOn) else { return nil }
        guard first.skipped.contains(where: { $0.reason == .fileOpen }) else { return first }
        usleep(Purger.closingTime)
        guard let second = purgeOnce(order, goOn: goOn) else { return nil }
        return order.isDryRun ? second : first.followed(by: second)
    }

    /// Microseconds in which the kernel reports a close. close(2) returns before: a file that was closed just now
    /// counts as open a moment longer.
    private static let closingTime: UInt32 = 20_000

    private func purgeOnce(_ order: PurgeOrder, goOn: @escaping @Sendable (Int) -> Bool) -> PurgeOutcome? {
        let outcome = Monitor<PurgeOutcome?>(nil)
        let job = Job(order: order, goOn: goOn) { ended in outcome.access { $0 = ended } }
        guard state.access({ $0.schedule.add(job) }) else { return nil }
        wake()
        return outcome.wait { $0 }
    }

    /// Has the kernel drop what it caches of all that commands have purged.
    public func forgetWithdrawn() { state.access { $0.run }?.forgetWithdrawn() }

    // MARK: SpaceRelief

    public func spaceIsLow() {
        state.access { $0.schedule.reportLowSpace() }
        wake()
    }

    public func makeSpace(for bytes: Int64) -> Bool {
        let conditions = conditions
        switch state.access({ $0.schedule.ask(for: bytes, at: .now, under: conditions) }) {
        case .stopped: return false
        case .backsOff: return space.figures.available >= bytes
        case .waits(let ticket):
            wake()
            return state.wait { state in
                state.schedule.answer(to: ticket) { self.space.figures.available }
            }
        }
    }

    /// Bytes that would come free if everything went that may; up to a second old.
    public var purgeable: Int64 {
        guard let run = state.access({ $0.run }) else { return 0 }
        return estimate.withLock { estimate in
            let start = ContinuousClock.now
            let conditions = PurgeableEstimate.Conditions(
                used: space.used, uses: uses.serial, running: environment.runningApps)
            if let known = estimate.bytes(at: start, under: conditions) { return known }
            let bytes = run.purgeableBytes()
            estimate.record(bytes, from: start, to: .now, under: conditions)
            return bytes
        }
    }
}
