// The handlers of requests about running apps: leases, marks, their end; and the mounts that exist only for them.

import AppContainer
import BackingStore
import ControlServer
import DeviceLifecycle
import Logging
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about running apps.
    static let runningRoutes: [Route<DeviceService>] = [
        .lease(run), .call(runProcess), .call(runEnd), .call(markRunning), .call(terminate),
    ]

    /// Verifies an app's seal, mounts the app where it is not mounted, and marks it running until the client
    /// disconnects or its process ends.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `appSuspended`, `sealBroken`, `inUse`, or of mounting.
    func run(
        _ request: RunRequest, until client: ClientDisconnect, progress: @escaping ProgressReport
    ) throws(Complaint) -> RunnableApp {
        let identifier = try runnable(request.app, request.extension)
        let (hold, place) = try operations.run(on: identifier) { () throws(Complaint) in
            let app = try device.app(identifier)
            try requireForeground(identifier)
            try requireSeal(of: app, request, progress: progress)
            let hold = running.hold(identifier, for: .lease(isDetached: request.detached ?? false)) { [self] in
                // Ends the response, which stays open for as long as the lease lasts.
                client.occur()
                WorkQueue().start { self.endMountToRun(identifier) }
            }
            do throws(Complaint) {
                return (hold, try mountToRun(app, lease: hold.number))
            } catch {
                running.release(hold)
                throw error
            }
        }
        client.whenOccurred { [running] in
            // Looking for the processes that get a signal blocks.
            WorkQueue().start { running.disconnect(hold) }
        }
        return place
    }

    /// A phone resumes an app that is opened again. Here that is a request of its own: what runs beside would go on in
    /// the foreground, or begin frozen.
    /// - Throws: ``Complaint`` of kind `appSuspended`.
    private func requireForeground(_ app: ContainerIdentifier) throws(Complaint) {
        guard lifecycle.appState(of: app) == .foreground else { throw notInForeground(app) }
    }

    func notInForeground(_ app: ContainerIdentifier) -> Complaint {
        let place = lifecycle.appState(of: app) == .suspended ? "suspended" : "in the background"
        return Complaint(
            .appSuspended,
            "\(app) is \(place); bring it to the foreground first, with: appcontainer resume "
                + "\(device.directory.path) \(app)")
    }

    /// - Throws: ``Complaint`` of kind `sealBroken`, after an event `refused`.
    private func requireSeal(
        of app: InstalledApp, _ request: RunRequest, progress: @escaping ProgressReport
    ) throws(Complaint) {
        let broken = try device.firstBreak(of: app, readingAll: request.verifyAll ?? false) {
            report($0, "verifying", to: progress)
        }
        guard let broken else { return }
        log.error("\(app.identifier) is not run: \(broken) is missing or invalid")
        events.record(
            Event(
                .refused, app: app.identifier.text, path: "\(app.bundleName.text)/\(broken)",
                operation: request.detached == true ? "launch" : "run", rule: Rule.sealedBundle.rawValue))
        throw Complaint(
            .sealBroken, "cannot run \(app.identifier): a sealed resource is missing or invalid: \(broken)")
    }

    /// The mount to run in: the present one, or a new one that ends with the last lease. The caller has an operation on
    /// the app.
    /// - Throws: ``Complaint`` of kind `inUse` where a mount shows `Documents` alone, or of mounting.
    private func mountToRun(_ app: InstalledApp, lease: UInt64) throws(Complaint) -> RunnableApp {
        let mountPoint: String
        if let present = mounts.mount(of: app.identifier) {
            guard !present.documents else {
                throw Complaint(
                    .inUse,
                    "\(app.identifier) is mounted at \(present.mountPoint) with its documents only; unmount that first")
            }
            mountPoint = present.mountPoint
        } else {
            mountPoint = try mounts.mount(app, .toRun).mountPoint
            log.info("mounted \(app.identifier) to run", metadata: ["at": "\(mountPoint)"])
            events.record(Event(.mounted, app: app.identifier.text, path: mountPoint))
        }
        return RunnableApp(
            identifier: app.identifier.text, mountPoint: mountPoint,
            isMountedToRun: mounts.homes.contain(mountPoint, .toRun),
            executable: app.executablePath.map { "\(mountPoint)/\($0.text)" }, lease: lease)
    }

    /// Gives a lease its process.
    /// - Throws: ``Complaint`` of kind `notRunning` where the lease has ended, `appSuspended` where the app is not in
    ///   the foreground any more: the process must not go on.
    func runProcess(_ request: RunProcessRequest) throws(Complaint) {
        try operations.run { () throws(Complaint) in
            try running.attach(request.pid, under: request.supervisor, toLease: request.lease)
            // From here on a suspension finds it; one that began before did not.
            if let app = running.app(ofLease: request.lease) { try requireForeground(app) }
        }
    }

    /// Ends a lease, and the mount that was made for it.
    func runEnd(_ request: RunEndRequest) throws(Complaint) {
        let app = try identifier(request.app)
        running.release(lease: request.lease)
        endMountToRun(app)
    }

    /// Marks an app running until it is terminated. It need not be mounted.
    /// - Throws: ``Complaint`` of kind `unknownApp` or `appSuspended`.
    func markRunning(_ request: MarkRunningRequest) throws(Complaint) {
        let app = try runnable(request.app, request.extension)
        try operations.run(on: app) { () throws(Complaint) in
            _ = try device.app(app)
            try requireForeground(app)
            running.mark(app)
        }
        log.info("marked \(app) running")
    }

    /// The identifier of an app, or of the extension of it that a request names.
    /// - Parameter name: the name of the extension's bundle, with or without `.appex`; nil for the app.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `notFound`.
    private func runnable(_ app: String, _ name: String?) throws(Complaint) -> ContainerIdentifier {
        let app = try identifier(app)
        guard let name else { return app }
        let known = device.registry.extensions(of: try device.app(app).identifier)
        if let found = known.first(where: { $0.place?.shortName == name || $0.place?.name.text == name }) {
            return found.identifier
        }
        let names = known.compactMap { $0.place?.shortName }.joined(separator: ", ")
        throw Complaint(
            .notFound,
            "\(app) has no extension \(Array(name.utf8).shown); it has \(names.isEmpty ? "none" : "these: \(names)")")
    }

    // MARK: The end

    func terminate(_ request: TerminateRequest) throws(Complaint) {
        try terminate(try identifier(request.app), request.memory == true ? .memory : .terminate)
    }

    /// Ends the processes and marks of an app and its extensions, or of an extension; returns when nothing of it runs.
    /// A mount that was made to run it ends too, unless something else uses it. The caller has no operation on the app.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notRunning`, `notAllowed` for a process of another user, or
    ///   `inUse` for one that does not end.
    func terminate(_ app: ContainerIdentifier, _ reason: RunningApps.Reason = .terminate) throws(Complaint) {
        _ = try device.app(app)
        let family = [app] + device.registry.extensions(of: app).map(\.identifier)
        // A suspended app is asked nothing, on a phone too.
        let frozen = family.filter { reason == .memory || lifecycle.appState(of: $0) == .suspended }
        try operations.run { () throws(Complaint) in
            if !frozen.isEmpty { try running.terminate(frozen, reason, asking: false) }
            guard frozen.isEmpty || family.contains(where: running.isRunning) else { return }
            try running.terminate(family, reason)
        }
        log.info("terminated \(app)")
        for app in family { endMountToRun(app) }
    }

    /// Whether anything holds an app running. A mount that has ended from outside just now does not.
    func isStillRunning(_ app: ContainerIdentifier) -> Bool {
        guard running.isRunning(app) else { return false }
        mounts.review()
        return running.isRunning(app)
    }

    /// - Parameter change: a word for the message, such as "uninstalled".
    /// - Throws: ``Complaint`` of kind `appRunning`.
    func requireNotRunning(_ app: ContainerIdentifier, before change: String) throws(Complaint) {
        guard isStillRunning(app) else { return }
        throw Complaint(
            .appRunning,
            "\(app) is running; end it before it is \(change), with: appcontainer terminate "
                + "\(device.directory.path) \(app)")
    }

    /// Unmounts an app that was mounted only to run, once no lease holds it. A mount in use, as by a process that was
    /// left behind, is tried again until it is free or the app runs again.
    /// - Parameter delay: seconds until the next attempt; doubled each time, up to five.
    private func endMountToRun(_ app: ContainerIdentifier, after delay: Double = 0.1) {
        do throws(Complaint) {
            try operations.run(on: app) { () throws(Complaint) in
                guard !running.isLeased(app), let mount = mounts.mount(of: app),
                    mounts.homes.contain(mount.mountPoint, .toRun)
                else { return }
                try mounts.unmount(mount.mountPoint, lazy: false)
            }
        } catch {
            guard error.kind == .inUse else { return }
            Timers.host.start(after: .seconds(delay)) { [self] in
                endMountToRun(app, after: min(delay * 2, 5))
            }
        }
    }
}
