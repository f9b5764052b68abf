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
        .call(suspend), .call(resume), .call(rehearseSuspension), .call(beginBackgroundTask), .call(endBackgroundTask),
    ]

    /// Brings an app into the background, and suspends it when its time there is over. The stay is no operation: the end
    /// of the device does not wait for it.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notRunning`, `appSuspended`, `notSuspended` or `notFrozen`.
    func suspend(_ request: SuspendRequest) throws(Complaint) -> SuspensionReport {
        let app = try identifier(request.app)
        let visit = try operations.run(on: app) { () throws(Complaint) in
            _ = try device.app(app)
            guard running.isRunning(app) else { throw Complaint(.notRunning, "\(app) is not running") }
            return try enterBackground(app, for: request.after)
        }
        try awaitEnd(of: visit, app)
        return try operations.run(on: app) { () throws(Complaint) in
            guard lifecycle.beginSuspension(app, after: visit) else { throw endedEarly(app) }
            return try freeze(app)
        }
    }

    /// - Throws: ``Complaint`` of kind `appSuspended`.
    private func enterBackground(
        _ app: ContainerIdentifier, for seconds: Double?
    ) throws(Complaint) -> AppLifecycle.Visit {
        let seconds = seconds ?? 0
        guard let visit = lifecycle.enterBackground(app, for: UInt64(seconds * 1e9)) else {
            throw notInForeground(app)
        }
        log.info("\(app) entered the background")
        events.record(.entered(.background, app, remaining: seconds))
        return visit
    }

    /// Waits for the end of a stay, without an operation.
    private func awaitEnd(of visit: AppLifecycle.Visit, _ app: ContainerIdentifier) throws(Complaint) {
        let isDue = lifecycle.awaitEnd(of: visit, app) {
            let left = Double(visit.deadline - visit.notice) / 1e9
            events.record(.expiring(app, remaining: left))
        }
        guard isDue else { throw endedEarly(app) }
    }

    private func endedEarly(_ app: ContainerIdentifier) -> Complaint {
        running.isRunning(app)
            ? Complaint(.notSuspended, "\(app) came to the foreground before it was suspended")
            : Complaint(.notRunning, "\(app) ended before it was suspended")
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
        // An app that was killed meanwhile leaves nothing to suspend.
        if !lifecycle.suspend(app, family) { family.thaw() }
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
    func rehearseSuspension(_ request: SuspensionRehearsalRequest) throws(Complaint) -> SuspensionRehearsal {
        let app = try identifier(request.app)
        let visit = try operations.run(on: app) { () throws(Complaint) in
            _ = try device.app(app)
            _ = try locks(of: request.pid)
            return try enterBackground(app, for: request.after)
        }
        // Also where the process has ended meanwhile.
        defer {
            if lifecycle.endStay(visit, app) { events.record(.entered(.foreground, app)) }
        }
        try awaitEnd(of: visit, app)
        let tasks = lifecycle.unendedTasks(of: app)
        return SuspensionRehearsal(locks: try locks(of: request.pid), unendedTasks: tasks)
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
        return BackgroundTask(task: task, remaining: remaining.map { Double($0) / 1e9 })
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
