// The handlers of requests about the background: suspension and its end, background tasks.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Logging
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about the background.
    static let suspensionRoutes: [Route<DeviceService>] = [
        .wait(suspend), .call(resume), .wait(rehearseSuspension), .call(beginBackgroundTask), .call(endBackgroundTask),
    ]

    /// Brings an app into the background, and suspends it when its time there is over. It waits without a thread. The
    /// stay is no operation: the end of the device does not wait for it, and ends it.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notRunning`, `appSuspended`, `notSuspended`, `notFrozen` or
    ///   `shuttingDown`.
    func suspend(_ request: SuspendRequest) async throws(Complaint) -> SuspensionReport {
        let app = try identifier(request.app)
        let stay = try await blocking(on: app) { (device) throws(Complaint) in
            guard device.running.isRunning(app) else { throw Complaint(.notRunning, "\(app) is not running") }
            let stay = try device.enterBackground(app, for: request.after)
            // It may have ended just before, and would be in the background for ever.
            guard device.running.isRunning(app) else {
                device.lifecycle.forget(app)
                device.lifecycle.finish(stay)
                throw device.endedEarly(app)
            }
            return stay
        }
        defer { finish(stay) }
        try await awaitEnd(of: stay)
        return try await blocking(on: app) { (device) throws(Complaint) in
            guard device.lifecycle.beginSuspension(after: stay) else {
                throw device.complaint(of: device.lifecycle.lastEnd(of: stay), app)
            }
            return try device.freeze(app)
        }
    }

    /// Carries out an operation on an app on a thread where it may block.
    private func blocking<Result: Sendable>(
        on app: ContainerIdentifier, _ body: @escaping @Sendable (DeviceService) throws(Complaint) -> Result
    ) async throws(Complaint) -> Result {
        let result = await WorkQueue().run { [self] () -> Swift.Result<Result, Complaint> in
            Swift.Result { () throws(Complaint) in
                try operations.run(on: app) { () throws(Complaint) in
                    _ = try device.app(app)
                    return try body(self)
                }
            }
        }
        return try result.get()
    }

    /// - Throws: ``Complaint`` of kind `appSuspended`.
    private func enterBackground(
        _ app: ContainerIdentifier, for seconds: Double?, isRehearsal: Bool = false
    ) throws(Complaint) -> AppLifecycle.Stay {
        let seconds = seconds ?? 0
        let stay = lifecycle.enterBackground(app, for: .seconds(seconds), isRehearsal: isRehearsal) {
            events.record(.entered(.background, app, remaining: seconds))
        }
        guard let stay else { throw notInForeground(app) }
        log.info("\(app) entered the background")
        return stay
    }

    /// Waits for the end of a stay, without an operation.
    /// - Throws: ``Complaint`` where that is no suspension, as when the client goes.
    private func awaitEnd(of stay: AppLifecycle.Stay) async throws(Complaint) {
        let end = await lifecycle.end(of: stay)
        guard end == .due else { throw complaint(of: end, stay.app) }
    }

    /// Ends a stay that has led to no suspension, and the request that it was for.
    private func finish(_ stay: AppLifecycle.Stay) {
        if lifecycle.endStay(stay) { events.record(.entered(.foreground, stay.app)) }
        lifecycle.finish(stay)
    }

    private func complaint(of end: AppLifecycle.StayEnd?, _ app: ContainerIdentifier) -> Complaint {
        switch end {
        case .shutdown: Complaint(.shuttingDown, "the device is shutting down; \(app) is not suspended")
        case .ended: endedEarly(app)
        case .abandoned: Complaint(.notSuspended, "nobody waits for the suspension of \(app) any more")
        case .foreground, .due, nil:
            Complaint(.notSuspended, "\(app) came to the foreground before it was suspended")
        }
    }

    private func endedEarly(_ app: ContainerIdentifier) -> Complaint {
        Complaint(.notRunning, "\(app) ended before it was suspended")
    }

    /// Freezes the processes of an app, and kills those that hold locks which they must not. Within an operation.
    /// - Throws: ``Complaint`` of kind `notFrozen`; the app is in the foreground then.
    private func freeze(_ app: ContainerIdentifier) throws(Complaint) -> SuspensionReport {
        let tasks = lifecycle.unendedTasks(of: app)
        let family: FrozenFamily
        do throws(Complaint) {
            let (processes, remains) = running.processes(of: app)
            family = try FrozenFamily.freeze(processes, remains: remains)
        } catch {
            _ = lifecycle.enterForeground(app)
            events.record(.entered(.foreground, app))
            throw error
        }
        // An app that has ended meanwhile leaves nothing to suspend, and nothing to look at.
        guard lifecycle.suspend(app, family), running.isRunning(app) else {
            lifecycle.forget(app)
            family.thaw()
            throw endedEarly(app)
        }
        log.info("suspended \(app)", metadata: ["processes": "\(family.members.count)"])
        events.record(Event(.suspended, app: app.text))
        let killed = killHolders(in: family, of: app)
        // Also where a mark holds it running, as that of a test: nothing is left to resume.
        if !killed.isEmpty, family.hasEnded { lifecycle.forget(app) }
        return SuspensionReport(
            processes: family.members.count, freezer: family.isByControlGroup && !family.members.isEmpty,
            terminated: killed, unendedTasks: tasks)
    }

    /// Kills the processes that hold a lock for which a phone ends an app.
    /// - Returns: all locks of the killed processes.
    private func killHolders(in family: FrozenFamily, of app: ContainerIdentifier) -> [HeldLock] {
        var survey = LockSurvey(mounts)
        var killed: [HeldLock] = []
        for member in family.members.sorted(by: { $0.identifier < $1.identifier }) {
            // Not this user's, or ended: then nothing can be said of its locks, or there are none.
            guard let breaches = try? survey.breaches(by: member.identifier), let first = breaches.first else {
                continue
            }
            let process = HostProcess(ofThread: member.identifier)
            guard family.kill(member) else {
                log.error("process \(process.id) of \(app) holds a lock on \(first.path), and cannot be killed")
                continue
            }
            log.notice(
                "killed process \(process.id) of \(app): suspended with a lock on \(first.path)",
                metadata: ["reason": "\(SuspensionBreach.reason)", "lock": "\(first.lock.rawValue)"])
            events.record(.terminated(app, by: first, process))
            killed += breaches.map { HeldLock($0, process) }
        }
        return killed
    }

    /// Brings an app to the foreground.
    /// - Throws: ``Complaint`` of kind `unknownApp` or `notSuspended`.
    func resume(_ request: ResumeRequest) throws(Complaint) {
        let app = try identifier(request.app)
        try operations.run(on: app) { () throws(Complaint) in
            _ = try device.app(app)
            let (before, family) = lifecycle.enterForeground(app)
            guard before != .foreground else {
                throw Complaint(
                    .notSuspended,
                    running.isRunning(app) ? "\(app) is in the foreground already" : "\(app) is not running")
            }
            family?.thaw()
            log.info("\(app) entered the foreground")
            if before == .suspended { events.record(Event(.resumed, app: app.text)) }
            events.record(.entered(.foreground, app))
        }
    }

    /// Looks at the locks of a process as a suspension would, while its app is in the background.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `appSuspended`, `notSuspended`, `notAllowed` or `badRequest`.
    func rehearseSuspension(
        _ request: SuspensionRehearsalRequest
    ) async throws(Complaint) -> SuspensionRehearsal {
        let app = try identifier(request.app)
        let stay = try await blocking(on: app) { (device) throws(Complaint) in
            _ = try device.locks(of: request.pid)
            return try device.enterBackground(app, for: request.after, isRehearsal: true)
        }
        // Also where the process has ended meanwhile.
        defer { finish(stay) }
        try await awaitEnd(of: stay)
        return try await blocking(on: app) { (device) throws(Complaint) in
            let tasks = device.lifecycle.unendedTasks(of: app)
            return SuspensionRehearsal(locks: try device.locks(of: request.pid), unendedTasks: tasks)
        }
    }

    /// - Throws: ``Complaint`` of kind `notAllowed` for a process that this one may not look into, `badRequest` where
    ///   there is none.
    private func locks(of process: pid_t) throws(Complaint) -> [HeldLock] {
        var survey = LockSurvey(mounts)
        let breaches: [SuspensionBreach]
        do throws(SystemError) {
            breaches = try survey.breaches(by: process)
        } catch {
            guard error == .accessDenied || error == .notPermitted else {
                throw Complaint(.badRequest, "rehearse-suspension: there is no process \(process)")
            }
            throw Complaint(
                .notAllowed,
                "the locks of process \(process) cannot be seen by the device's process: it is another user's")
        }
        let named = HostProcess(ofThread: process)
        return breaches.map { HeldLock($0, named) }
    }

    // MARK: Background tasks

    func beginBackgroundTask(_ request: BeginBackgroundTaskRequest) throws(Complaint) -> BackgroundTask {
        let app = try identifier(request.app)
        _ = try device.app(app)
        let (task, remaining) = try lifecycle.beginTask(request.name ?? "", of: app, by: request.pid)
        return BackgroundTask(task: task, remaining: remaining.map { $0 / .seconds(1) })
    }

    func endBackgroundTask(_ request: EndBackgroundTaskRequest) throws(Complaint) {
        lifecycle.endTask(request.task, of: try identifier(request.app))
    }
}

extension HeldLock {
    fileprivate init(_ breach: SuspensionBreach, _ process: HostProcess) {
        self.init(path: breach.path, lock: breach.lock.rawValue, pid: process.id, process: process.name)
    }
}
