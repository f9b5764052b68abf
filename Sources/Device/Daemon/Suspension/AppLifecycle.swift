// Where each app is: in the foreground, in the background, or suspended.

import AppContainer
import Glibc
import Platform
import SandboxModel
import Synchronization

/// The apps that are in the background or suspended, and the background tasks of all apps. An app that is in neither
/// state is in the foreground.
///
/// A request that waits for the end of a stay is a continuation and holds no thread. Locks: `looks` is held while the
/// time of stays is looked at, so that a notice is told before the end; below it that of the state, for moments only.
/// Processes are frozen and continued, and requests woken, without either.
final class AppLifecycle: Sendable {
    /// One stay of an app in the background, for a suspension or for a rehearsal of one.
    struct Stay: Hashable, Sendable {
        let app: ContainerIdentifier
        fileprivate let number: UInt64
    }

    /// The reason for which a stay ends.
    enum StayEnd: Sendable {
        /// Its time is over, or its last background task has ended.
        case due
        /// The app came to the foreground.
        case foreground
        /// The app runs no more.
        case ended
        /// The client that asked for the suspension has gone.
        case abandoned
        /// The device ends.
        case shutdown
    }

    struct Background {
        let stay: Stay
        /// Of an app that is the process of a test, which need not be known here.
        let isRehearsal: Bool
        var time: BackgroundTime
        /// Whether a task was under way since: then the end of the last one ends the stay.
        var hadTasks: Bool
        /// The number of the last appointment with the timers: an earlier one is void.
        var appointment: UInt64 = 0
    }

    enum Phase {
        case background(Background)
        /// Processes are being frozen, or are; nil at first.
        case suspended(FrozenFamily?)
    }

    /// The request that a stay is for, from its beginning to ``AppLifecycle/finish(_:)``.
    struct Request {
        var end: StayEnd?
        var waiter: CheckedContinuation<StayEnd, Never>?
    }

    private struct State {
        var last: UInt64 = 0
        var phases: [ContainerIdentifier: Phase] = [:]
        var requests: [UInt64: Request] = [:]
        var tasks = BackgroundTasks()
        /// The processes whose end ends their tasks.
        var watched: Set<pid_t> = []

        /// Ends a stay that has no end yet.
        mutating func end(_ stay: Stay, as end: StayEnd) {
            if requests[stay.number]?.end == nil { requests[stay.number]?.end = end }
        }

        /// Brings an app to the foreground.
        /// - Parameter end: that of its stay in the background, also if it was due already.
        mutating func leave(_ app: ContainerIdentifier, as end: StayEnd) -> Phase? {
            let phase = phases.removeValue(forKey: app)
            if case .background(let background)? = phase { requests[background.stay.number]?.end = end }
            return phase
        }

        var backgrounds: [Background] {
            phases.values.compactMap { if case .background(let background) = $0 { background } else { nil } }
        }
    }

    private let state = Monitor(State())
    private let looks = Mutex(())
    private let timers: Timers
    /// Called when the tasks of an app are to be told that its stay ends, with the time that they have left.
    private let expiring: @Sendable (ContainerIdentifier, Duration) -> Void

    init(timers: Timers = .host, expiring: @escaping @Sendable (ContainerIdentifier, Duration) -> Void = { _, _ in }) {
        self.timers = timers
        self.expiring = expiring
    }

    /// Changes the state, and wakes the requests whose stay has an end then.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, woken) = state.access { state in
            let result = body(&state)
            for background in state.backgrounds
            where background.hadTasks && state.tasks.isEmpty(of: background.stay.app) {
                state.end(background.stay, as: .due)
            }
            var woken: [(CheckedContinuation<StayEnd, Never>, StayEnd)] = []
            for (number, request) in state.requests {
                guard let end = request.end, let waiter = request.waiter else { continue }
                state.requests[number]?.waiter = nil
                woken.append((waiter, end))
            }
            return (result, woken)
        }
        for (waiter, end) in woken { waiter.resume(returning: end) }
        return result
    }

    // MARK: Looking

    /// The state of an app. One that does not run is in the foreground: it would be when it is opened.
    func appState(of app: ContainerIdentifier) -> App.State {
        state.access { state in
            switch state.phases[app] {
            case nil: .foreground
            case .background?: .background
            case .suspended?: .suspended
            }
        }
    }

    /// The apps that are suspended.
    var suspended: Set<ContainerIdentifier> {
        state.access { state in
            Set(state.phases.keys.filter { if case .suspended? = state.phases[$0] { true } else { false } })
        }
    }

    /// The tasks of an app that have not ended.
    func unendedTasks(of app: ContainerIdentifier) -> [String] { state.access { $0.tasks.names(of: app) } }

    /// The number of requests that wait for the end of a stay.
    var waiting: Int { state.access { $0.requests.values.count { $0.waiter != nil } } }

    // MARK: Background

    /// Begins a stay in the background. ``finish(_:)`` has to follow.
    /// - Parameter entered: tells the app of it. The stay has begun by then, so that a task which the app ends at once
    ///   ends it; a notice of its end comes later.
    /// - Returns: nil where the app is not in the foreground.
    func enterBackground(
        _ app: ContainerIdentifier, for length: Duration, isRehearsal: Bool = false, entered: () -> Void = {}
    ) -> Stay? {
        let stay = looks.withLock { _ -> Stay? in
            let stay = change { state -> Stay? in
                guard state.phases[app] == nil else { return nil }
                state.last += 1
                let stay = Stay(app: app, number: state.last)
                state.phases[app] = .background(
                    Background(
                        stay: stay, isRehearsal: isRehearsal, time: BackgroundTime(length, from: timers.now),
                        hadTasks: !state.tasks.isEmpty(of: app)))
                state.requests[stay.number] = Request()
                return stay
            }
            if stay != nil { entered() }
            return stay
        }
        if let stay { look(at: stay) }
        return stay
    }

    /// Waits until a stay ends. Where the task is cancelled first, the stay is abandoned.
    func end(of stay: Stay) async -> StayEnd {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.access { state -> StayEnd? in
                    if let end = state.requests[stay.number]?.end { return end }
                    state.requests[stay.number]?.waiter = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            change { $0.end(stay, as: .abandoned) }
        }
    }

    /// The end of a stay that was due and has not led to a suspension.
    func lastEnd(of stay: Stay) -> StayEnd? { state.access { $0.requests[stay.number]?.end } }

    /// Says that the request which a stay was for has been carried out.
    func finish(_ stay: Stay) { state.access { _ = $0.requests.removeValue(forKey: stay.number) } }

    /// Ends one stay in the background, and nothing else.
    /// - Returns: whether it still lasted.
    func endStay(_ stay: Stay) -> Bool {
        change { state in
            guard case .background(let background)? = state.phases[stay.app], background.stay == stay else {
                return false
            }
            _ = state.leave(stay.app, as: .foreground)
            return true
        }
    }

    /// Wakes all requests that wait, because the device ends.
    func endStays() {
        change { state in
            for background in state.backgrounds { state.end(background.stay, as: .shutdown) }
        }
    }

    // MARK: Time

    /// Lets time pass for all stays in the background. Returns when those that are over then have led to a suspension,
    /// or after ten seconds.
    func pass(_ time: Duration) {
        let stays = state.access { state in
            state.backgrounds.map { background in
                var background = background
                background.time.pass(time)
                state.phases[background.stay.app] = .background(background)
                return background.stay
            }
        }
        for stay in stays.sorted(by: { $0.number < $1.number }) { look(at: stay) }
        _ = state.wait(until: MonotonicClock.nanoseconds + 10_000_000_000) { state in
            state.requests.values.contains { $0.end == .due } ? nil : ()
        }
    }

    /// Does what is due of a stay: first tells its tasks, then ends it. Makes an appointment for the rest.
    /// - Parameter appointment: the one that this call is for; nil for none.
    private func look(at stay: Stay, for appointment: UInt64? = nil) {
        looks.withLock { _ in
            let warning = update(stay, for: appointment) { (background, state) -> Duration? in
                let warning = background.time.takeNotice(at: timers.now)
                return state.tasks.isEmpty(of: stay.app) ? nil : warning
            }
            if let warning = warning ?? nil { expiring(stay.app, warning) }
            let next = update(stay, for: appointment) { (background, state) -> (UInt64, Duration)? in
                guard !background.time.isOver(at: timers.now) else {
                    state.end(stay, as: .due)
                    return nil
                }
                background.appointment += 1
                return (background.appointment, max(.zero, background.time.next - timers.now))
            }
            guard let (number, left) = next ?? nil else { return }
            timers.start(after: left) { [weak self] in self?.look(at: stay, for: number) }
        }
    }

    /// Changes a stay that still lasts.
    /// - Returns: nil for one that does not, and for an appointment that is void.
    private func update<Result>(
        _ stay: Stay, for appointment: UInt64?, _ body: (inout Background, inout State) -> Result
    ) -> Result? {
        change { state in
            guard case .background(var background)? = state.phases[stay.app], background.stay == stay,
                appointment == nil || appointment == background.appointment
            else { return nil }
            defer { state.phases[stay.app] = .background(background) }
            return body(&background, &state)
        }
    }

    // MARK: Suspension

    /// Lets no process of the app begin any more.
    /// - Returns: false unless the stay still lasts.
    func beginSuspension(after stay: Stay) -> Bool {
        change { state in
            guard case .background(let background)? = state.phases[stay.app], background.stay == stay else {
                return false
            }
            state.phases[stay.app] = .suspended(nil)
            return true
        }
    }

    /// - Returns: false where the app has ended meanwhile.
    func suspend(_ app: ContainerIdentifier, _ family: FrozenFamily) -> Bool {
        state.access { state in
            guard case .suspended? = state.phases[app] else { return false }
            state.phases[app] = .suspended(family)
            return true
        }
    }

    /// Brings an app to the foreground.
    /// - Returns: the state that it was in, and the processes that were frozen.
    func enterForeground(_ app: ContainerIdentifier) -> (App.State, FrozenFamily?) {
        change { state in
            switch state.leave(app, as: .foreground) {
            case nil: (.foreground, nil)
            case .background?: (.background, nil)
            case .suspended(let family)?: (.suspended, family)
            }
        }
    }

    /// Forgets where an app was whose last process has ended.
    /// - Parameter isHeld: whether a mark or a mount holds it running all the same. Then a rehearsal goes on: its app
    ///   is a process that nobody has announced.
    func forget(_ app: ContainerIdentifier, isHeld: Bool = false) {
        let phase = change { state -> Phase? in
            if isHeld, case .background(let background)? = state.phases[app], background.isRehearsal { return nil }
            return state.leave(app, as: .ended)
        }
        // Nothing of it is left, but perhaps what it has left behind is frozen.
        if case .suspended(let family)? = phase { family?.thaw() }
    }

    /// Forgets where all apps were: after a restart each is in the foreground.
    func forgetAll() {
        for app in state.access({ Array($0.phases.keys) }) { forget(app) }
    }

    // MARK: Background tasks

    /// Begins a task of a process. It ends with the process at the latest.
    /// - Returns: the task, and the time that is left of a stay in the background.
    /// - Throws: ``Complaint`` of kind `badRequest` where there is no such process, or it has too many tasks.
    func beginTask(_ name: String, of app: ContainerIdentifier, by process: pid_t) throws(Complaint) -> (
        task: UInt64, remaining: Duration?
    ) {
        try watch(process)
        return try state.access { (state) throws(Complaint) in
            // It may have ended since, and its tasks with it.
            guard state.watched.contains(process) else { throw AppLifecycle.noProcess(process) }
            guard let task = state.tasks.begin(BackgroundTasks.Entry(app: app, name: name, process: process)) else {
                throw Complaint(
                    .badRequest,
                    "begin-background-task: the process \(process) has \(BackgroundTasks.mostOfOneProcess) tasks that it "
                        + "has not ended")
            }
            guard case .background(var background)? = state.phases[app] else { return (task, nil) }
            background.hadTasks = true
            state.phases[app] = .background(background)
            return (task, background.time.remaining(at: timers.now))
        }
    }

    private static func noProcess(_ process: pid_t) -> Complaint {
        Complaint(.badRequest, "begin-background-task: there is no process \(process)")
    }

    /// Ends the tasks of a process when it ends. A process is watched once, however many tasks it begins.
    private func watch(_ identifier: pid_t) throws(Complaint) {
        guard state.access({ $0.watched.insert(identifier).inserted }) else { return }
        do throws(Complaint) {
            guard let process = WatchedProcess(identifier) else { throw AppLifecycle.noProcess(identifier) }
            let end = try Complaint.wrap("cannot wait for the end of the process \(identifier)") {
                () throws(SystemError) in try process.endWatch()
            }
            end.whenReady { [weak self] in self?.endTasks(ofProcess: identifier) }
        } catch {
            endTasks(ofProcess: identifier)
            throw error
        }
    }

    /// Ends the tasks of a process that has ended.
    func endTasks(ofProcess process: pid_t) {
        change { state in
            state.tasks.endAll(of: process)
            state.watched.remove(process)
        }
    }

    /// Ends a task. Does nothing for one that has ended.
    func endTask(_ task: UInt64, of app: ContainerIdentifier) {
        change { $0.tasks.end(task, of: app) }
    }
}
