// The apps that run now: what holds each of them running, and how it ends.

import Glibc
import Platform
import SandboxModel

/// The apps that run now. An app runs as long as anything holds it: a process of `run` or `launch`,
/// `launch --no-exec`, or a mount that was made with `--running`.
///
/// Lock: its own, for moments only. Callbacks, signals and waits for processes happen without it.
final class RunningApps: Sendable {
    /// One reason for which an app counts as running; see ``hold(_:for:released:)``.
    struct Hold: Hashable, Sendable {
        let app: ContainerIdentifier
        /// Never used again in this process. Clients name a lease by it.
        let number: UInt64
    }

    /// The reason of a hold.
    enum Holder: Sendable {
        /// `run` or `launch`. A detached lease lasts as long as its process, once that is known; any other ends with
        /// the connection of its client at the latest.
        case lease(isDetached: Bool)
        /// `launch --no-exec`.
        case mark
        /// `mount --running`.
        case mount
    }

    private struct Record {
        let holder: Holder
        /// nil for marks and mounts, and for a lease whose process is not announced yet.
        var process: WatchedProcess?
        /// nil where the client has named none.
        var supervisor: WatchedProcess?
        /// Called once, when the hold has been released.
        let released: @Sendable () -> Void

        var isLease: Bool { if case .lease = holder { true } else { false } }
    }

    private struct State {
        var next: UInt64 = 0
        var holds: [Hold: Record] = [:]
        /// The supervisors of leases that have ended: something that their processes have left behind still runs.
        var remains: [Hold: WatchedProcess] = [:]
        /// Nothing begins to run during a restart, and once the device ends.
        var isClosed = false
    }

    private let state = Monitor(State())
    /// Called when the last process of an app has ended, and when nothing holds it running any more.
    private let stopped: Stopped
    /// Called for each process that is about to be ended, and for each app that only marks held running.
    private let ending: @Sendable (Ending) -> Void

    /// - Parameter isHeld: whether a mark, or a mount, holds the app running all the same.
    typealias Stopped = @Sendable (_ app: ContainerIdentifier, _ isHeld: Bool) -> Void

    /// A process, or a mark, that is ended.
    struct Ending: Sendable {
        let app: ContainerIdentifier
        let reason: Reason
        /// nil for a mark.
        let process: HostProcess?
    }

    /// The reason of an event `terminated`.
    enum Reason: String, Sendable {
        case restart, terminate, memory
    }

    init(
        stopped: @escaping Stopped = { _, _ in },
        ending: @escaping @Sendable (Ending) -> Void = { _ in }
    ) {
        self.stopped = stopped
        self.ending = ending
    }

    /// The time between SIGTERM and SIGKILL.
    static let terminationTimeout = Duration.seconds(5)
    /// The time that killed processes have to end before their parent is killed.
    private static let killTimeout = Duration.seconds(1)

    // MARK: Looking

    func isRunning(_ app: ContainerIdentifier) -> Bool {
        state.access { state in state.holds.keys.contains { $0.app == app } }
    }

    var all: Set<ContainerIdentifier> { state.access { Set($0.holds.keys.map(\.app)) } }

    /// The processes that run an app, and the supervisors of what earlier ones have left behind.
    func processes(of app: ContainerIdentifier) -> (running: [RunningProcess], remains: [WatchedProcess]) {
        state.access { state in
            let records = state.holds.filter { $0.key.app == app }.values
            let running = records.compactMap { record in
                record.process.map { RunningProcess(process: $0, supervisor: record.supervisor) }
            }
            return (running, state.remains.filter { $0.key.app == app }.map(\.value))
        }
    }

    /// The app of a lease; nil when the lease has ended.
    func app(ofLease number: UInt64) -> ContainerIdentifier? {
        state.access { state in state.holds.keys.first { $0.number == number }?.app }
    }

    /// Whether `run` or `launch` hold the app.
    func isLeased(_ app: ContainerIdentifier) -> Bool {
        state.access { state in state.holds.contains { $0.key.app == app && $0.value.isLease } }
    }

    // MARK: Holding

    /// Marks an app running until the hold is released. Waits while the device is being restarted. Only within an
    /// operation: after ``endAll()`` it would wait for ever, and operations have ended by then.
    /// - Parameter released: called once, by the thread that releases the hold.
    func hold(
        _ app: ContainerIdentifier, for holder: Holder = .mark, released: @escaping @Sendable () -> Void = {}
    ) -> Hold {
        state.wait { state in
            guard !state.isClosed else { return nil }
            state.next += 1
            let hold = Hold(app: app, number: state.next)
            state.holds[hold] = Record(holder: holder, released: released)
            return hold
        }
    }

    /// Marks an app running, unless it has such a mark already.
    func mark(_ app: ContainerIdentifier) {
        let isMarked = state.access { state in
            state.holds.contains { hold, record in
                if case .mark = record.holder { hold.app == app } else { false }
            }
        }
        if !isMarked { _ = hold(app, for: .mark) }
    }

    /// Ends a hold, and calls its `released`. Does nothing for one that has ended.
    func release(_ hold: Hold) {
        let (record, others) = state.access { state in
            let record = state.holds.removeValue(forKey: hold)
            if let supervisor = record?.supervisor { state.remains[hold] = supervisor }
            return (record, state.holds.filter { $0.key.app == hold.app }.values)
        }
        let isLast = record?.process != nil && !others.contains { $0.process != nil }
        if record != nil, isLast || others.isEmpty { stopped(hold.app, !others.isEmpty) }
        // It may have ended before, and is not heard of again then.
        if let supervisor = record?.supervisor, supervisor.waitForEnd(until: .now) { forgetRemains(of: hold) }
        record?.released()
    }

    private func forgetRemains(of hold: Hold) {
        _ = state.access { $0.remains.removeValue(forKey: hold) }
    }

    /// Ends a lease of that number, if there is one.
    func release(lease number: UInt64) {
        guard let hold = state.access({ state in state.holds.keys.first { $0.number == number } }) else { return }
        release(hold)
    }

    /// Ends a lease, with its process, because its client has disconnected. A detached lease with a process stays.
    func disconnect(_ hold: Hold) {
        guard let record = state.access({ $0.holds[hold] }) else { return }
        guard let process = record.process else { return release(hold) }
        if case .lease(isDetached: true) = record.holder { return }
        var family = ProcessFamilies(of: [process], under: record.supervisor.map { [$0] } ?? [])
        family.killFromBelow(within: RunningApps.killTimeout)
        // False for another user's process, such as a command of sudo(8). Otherwise its end releases the lease.
        if !process.send(0) { release(hold) }
    }

    /// Gives a lease its process, whose end ends the lease.
    /// - Parameter supervisor: an ancestor of the process that adopts what it leaves behind, and ends with the last.
    /// - Throws: ``Complaint`` of kind `notRunning` when the lease has ended, `badRequest` when there is no such
    ///   process, or the supervisor is not above it; with the host's error where its end cannot be waited for.
    func attach(
        _ identifier: pid_t, under supervisor: pid_t? = nil, toLease number: UInt64
    ) throws(Complaint) {
        let supervisor = try supervisor.map { (parent) throws(Complaint) in
            try self.supervisor(parent, of: identifier)
        }
        guard let process = WatchedProcess(identifier) else {
            throw Complaint(.badRequest, "run-process: there is no process \(identifier)")
        }
        // Such as init: its end would be this process's own.
        guard !ProcessFamily.members(of: identifier).contains(getpid()) else {
            throw Complaint(.badRequest, "run-process: the device's own process descends from \(identifier)")
        }
        let ends = try Complaint.wrap("cannot wait for the end of the process \(identifier)") {
            () throws(SystemError) in
            (process: try process.endWatch(), supervisor: try supervisor?.endWatch())
        }
        let hold = try state.access { (state) throws(Complaint) in
            guard let hold = state.holds.keys.first(where: { $0.number == number }), state.holds[hold]!.isLease else {
                throw Complaint(.notRunning, "the app was terminated before it began to run")
            }
            guard state.holds[hold]!.process == nil else {
                throw Complaint(.badRequest, "run-process: the lease \(number) has a process already")
            }
            state.holds[hold]!.process = process
            state.holds[hold]!.supervisor = supervisor
            return hold
        }
        ends.supervisor?.whenReady { [weak self] in self?.forgetRemains(of: hold) }
        ends.process.whenReady { [weak self] in self?.release(hold) }
    }

    /// The supervisor of a process.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    private func supervisor(_ identifier: pid_t, of process: pid_t) throws(Complaint) -> WatchedProcess {
        let below = ProcessFamily.members(of: identifier)
        guard let supervisor = WatchedProcess(identifier), below.contains(process), identifier != process else {
            throw Complaint(.badRequest, "run-process: the process \(process) does not descend from \(identifier)")
        }
        guard !below.contains(getpid()) else {
            throw Complaint(.badRequest, "run-process: the device's own process descends from \(identifier)")
        }
        return supervisor
    }

    // MARK: Ending

    /// Ends the processes and marks of an app and its extensions, with whatever ended processes of them have left
    /// behind; returns when they run no more.
    /// - Parameters:
    ///   - family: the app first.
    ///   - reason: for the event; nil for none.
    ///   - asking: whether processes are asked first. One that is frozen would not answer.
    /// - Throws: ``Complaint`` of kind `notRunning` where there is nothing of it, or as ``end(_:within:where:)``.
    func terminate(
        _ family: [ContainerIdentifier], _ reason: Reason? = .terminate, asking: Bool = true
    ) throws(Complaint) {
        let isSomeRunning = state.access { state in
            (Array(state.holds.keys) + Array(state.remains.keys)).contains { family.contains($0.app) }
        }
        guard isSomeRunning else { throw Complaint(.notRunning, "\(family[0]) is not running") }
        try end(reason, within: asking ? RunningApps.terminationTimeout : nil) { hold, _ in family.contains(hold.app) }
    }

    /// Kills all that runs, and lets nothing begin until the body has returned. Holds of mounts stay.
    func closing<Result>(_ body: () throws(Complaint) -> Result) throws(Complaint) -> Result {
        close()
        defer { state.access { $0.isClosed = false } }
        try end(.restart, within: nil) { _, holder in
            if case .mount = holder { false } else { true }
        }
        return try body()
    }

    /// Ends everything, and lets nothing begin any more.
    func endAll() throws(Complaint) {
        close()
        try end(nil, within: RunningApps.terminationTimeout) { _, _ in true }
    }

    /// Lets nothing begin to run. Waits for another thread's ``closing(_:)`` first.
    private func close() {
        state.wait { state -> Void? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return ()
        }
    }

    /// Ends the holds that `isMeant` selects.
    /// - Parameters:
    ///   - reason: nil where nobody is to be told.
    ///   - timeout: the time that processes have after SIGTERM; nil to kill them at once.
    /// - Throws: ``Complaint`` of kind `notAllowed` when a process is another user's, `inUse` when one does not end.
    private func end(
        _ reason: Reason?, within timeout: Duration?, where isMeant: (Hold, Holder) -> Bool
    ) throws(Complaint) {
        let (processes, others, remains) = state.access { state in
            let remains = state.remains.filter { isMeant($0.key, .lease(isDetached: false)) }
            let meant = state.holds.filter { isMeant($0.key, $0.value.holder) }
            let others = meant.filter { $0.value.process == nil }
            for hold in others.keys { state.holds.removeValue(forKey: hold) }
            return (meant.filter { $0.value.process != nil }, others, Array(remains.values))
        }
        for record in others.values { record.released() }
        for app in Set(others.keys.map(\.app)).subtracting(processes.keys.map(\.app)) {
            if !isRunning(app) { stopped(app, false) }
            if let reason { ending(Ending(app: app, reason: reason, process: nil)) }
        }
        for (hold, record) in processes {
            guard let process = record.process, !process.send(0) else { continue }
            throw Complaint(
                .notAllowed, "process \(process.identifier), which runs \(hold.app), belongs to another user")
        }

        // Their names, as long as they have one.
        let named = processes.mapValues { $0.process.map { HostProcess(ofThread: $0.identifier) } }
        var families = ProcessFamilies(
            of: processes.values.compactMap(\.process), under: processes.values.compactMap(\.supervisor) + remains)
        if let timeout { families.terminate(within: timeout) }
        families.kill()
        let deadline = ContinuousClock.now + RunningApps.terminationTimeout
        for (hold, record) in processes {
            guard let process = record.process else { continue }
            guard process.waitForEnd(until: deadline) else {
                throw Complaint(.inUse, "process \(process.identifier), which runs \(hold.app), does not end")
            }
            release(hold)
            if let reason { ending(Ending(app: hold.app, reason: reason, process: named[hold] ?? nil)) }
        }
        families.waitForEnd(until: deadline)
    }
}
