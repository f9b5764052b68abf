// The device behind the control API: each request, told to the room that carries it out.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Dispatch
import Glibc
import Logging
import Platform
import Purging
import SandboxModel

/// A booted device with its mounts.
final class DeviceService: ServedDevice {
    let device: BootedDevice
    let log: Logger
    let record: EventLog
    let socket: String
    let mounts: Mounts
    let operations = Operations()
    let running = RunningApps()
    let purger: Purger
    let locking: LockController
    private let spaceWatch: SpaceWatch
    /// What whoever started the device should know, one line each.
    let warnings: [String]

    /// Boots a device. Where another process is about to let go of it, waits for that.
    static func open(
        path: String, runtimeDirectory: String, guardian: MountGuard?
    ) throws(Complaint) -> DeviceService {
        do throws(Complaint) {
            return try DeviceService(path: path, runtimeDirectory: runtimeDirectory, guardian: guardian)
        } catch {
            guard error.kind == .deviceBusy, waitForLock(path) else { throw error }
            return try DeviceService(path: path, runtimeDirectory: runtimeDirectory, guardian: guardian)
        }
    }

    private init(path: String, runtimeDirectory: String, guardian: MountGuard?) throws(Complaint) {
        let log = DaemonLog.logger(device: path)
        let record = EventLog(device: path)
        let corruptions = CorruptionLog(log: log, events: record)
        let device = try BootedDevice.boot(at: path) { corruptions.note($0) }
        self.device = device
        self.log = log
        self.record = record
        socket = RuntimeDirectory.socketPath(
            in: runtimeDirectory, device: path, identifier: device.directory.uuid)
        mounts = try Mounts(device: device, socket: socket, log: log, events: record, guardian: guardian)
        corruptions.watch(mounts)
        spaceWatch = SpaceWatch(device) { [mounts] in mounts.noticeTightness() }
        locking = LockController(device: device, mounts: mounts) { DeviceService.note($0, record, log) }
        warnings =
            device.keysAreLocked
            ? []
            : ["memlock is too small to keep the keys out of swap; raise it with ulimit -l, then shut the device down"]
        purger = Purger(
            device,
            in: PurgeConnection(mounts: mounts, running: running, operations: operations, events: record, log: log))
        try startPurging()
        for warning in warnings { log.warning("\(warning)") }
        if device.session.killed.contains(device.session.number - 1) {
            log.warning("the process of the session before this one was killed")
            AbandonedMount.removeAll(
                of: path, privateDirectory: RuntimeDirectory.privateDirectory(besideSocket: socket))
            mounts.homes.removeAll()
        } else if device.session.powerLost.contains(device.session.number - 1) {
            log.warning("the host went down during the session before this one")
        }
    }

    /// - Returns: whether the lock came free within fifteen seconds.
    private static func waitForLock(_ path: String) -> Bool {
        let free = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            if takeLockOnce(path) { free.signal() }
        }
        return free.wait(timeout: .now() + 15) == .success
    }

    /// Waits for the lock and lets go of it again: before the answer, or the caller would find it taken by this one.
    private static func takeLockOnce(_ path: String) -> Bool {
        guard let file = try? Descriptor.open(path: path + "/lock", flags: O_RDWR) else { return false }
        return (try? file.lock()) != nil
    }

    // MARK: Events

    /// Puts an event into the record that `appcontainer events` prints.
    func note(_ event: Event) {
        record.note(event)
    }

    func events() throws(Complaint) -> [Event] {
        // Whoever asks what was refused is to count all of it.
        mounts.tellOmissions()
        return try EventRecord.entries(of: device.directory.path).map(\.event)
    }

    func followEvents() throws(Complaint) -> EventSubscription {
        try Complaint.describe("cannot read the events of \(device.directory.path)") { () throws(SystemError) in
            try record.follow()
        }
    }

    // MARK: State

    func status() throws(Complaint) -> DeviceStatus {
        DeviceStatus(
            state: locking.deviceState.rawValue, device: device.directory.path, identifier: device.directory.uuid,
            hasPasscode: device.hasPasscode, graceRemaining: locking.graceRemaining,
            readable: ProtectionClass.allCases.filter { device.deviceState.canOpen($0) }.map(\.foundationName),
            apps: device.apps.count, waiting: device.registry.waitingIdentifiers,
            space: SpaceStatus(device.context.space),
            daemon: DaemonStatus(pid: getpid(), socket: socket), mounts: mounts.all,
            running: running.all.sorted().map(\.text))
    }

    func apps() throws(Complaint) -> [App] {
        let mounts = mounts.all
        return device.apps.map { app in
            App(
                app, mountPoint: mounts.first { $0.app == app.identifier.text }?.mountPoint,
                running: running.isRunning(app.identifier))
        }
    }

    func unlock(passcode: String) throws(Complaint) {
        try operations.run { () throws(Complaint) in try locking.unlock(passcode: passcode) }
    }

    func lock(_ request: LockRequest) async throws(Complaint) {
        try await locking.lock(now: request.now ?? false, waits: request.wait ?? true)
    }

    func restart() throws(Complaint) {
        try operations.run { () throws(Complaint) in
            try running.closing { () throws(Complaint) in try locking.restart() }
        }
    }

    private static func note(_ change: LockController.Change, _ record: EventLog, _ log: Logger) {
        switch change {
        case .willBecomeUnavailable:
            log.info("locking")
            record.note(Event(.willBecomeUnavailable))
        case .locked:
            log.info("locked")
            record.note(Event(.locked))
        case .unlocked:
            log.info("unlocked")
            record.note(Event(.unlocked))
        case .didBecomeAvailable: record.note(Event(.didBecomeAvailable))
        case .restarted:
            log.info("restarted")
            record.note(Event(.restarted))
        }
    }

    func shutdown() {
        guard operations.end() else { return }
        do throws(Complaint) {
            try running.endAll()
        } catch {
            log.error("\(error.message)")
        }
        mounts.endAll()
        spaceWatch.end()
        endPurging()
        do throws(Complaint) {
            try device.shutDown()
        } catch {
            log.error("\(error.message)")
        }
        record.end()
    }

    // MARK: Apps

    func uninstall(_ request: UninstallRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        try operations.run(on: app) { () throws(Complaint) in
            try requireNotRunning(app, before: "uninstalled")
            try mounts.requireUnmounted(app, before: "uninstalled")
            try device.uninstall(app) { report($0, "removing", to: progress) }
        }
        log.info("uninstalled \(app)")
    }

    func reset(_ request: ResetRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        try operations.run(on: app) { () throws(Complaint) in
            try requireNotRunning(app, before: "reset")
            try mounts.requireUnmounted(app, before: "reset")
            try device.reset(app) { report($0, "removing", to: progress) }
        }
        log.info("reset \(app)")
    }

    func entitle(_ request: EntitleRequest) throws(Complaint) -> App {
        let app = try identifier(request.app)
        let groups = try identifiers(request.groups)
        let iCloud = try identifiers(request.iCloud)
        return try operations.run(on: app) { () throws(Complaint) in
            try mounts.requireFree(groups: groups, iCloud: iCloud, for: app)
            let entitled = try device.entitle(app, groups: groups, iCloud: iCloud)
            try mounts.showAnew(entitled)
            log.info("entitled \(app)", metadata: ["to": "\((groups + iCloud).map(\.text))"])
            return App(entitled, mountPoint: mounts.mountPoint(of: app), running: running.isRunning(app))
        }
    }

    func deliver(_ request: DeliverRequest, progress: @escaping ProgressReport) throws(Complaint) -> [String] {
        let app = try identifier(request.app)
        return try operations.run(on: app) { () throws(Complaint) in
            let delivery = try device.deliver(request.files, to: app) { report($0, "delivering", to: progress) }
            mounts.noticeDelivery(delivery, to: app)
            log.info("delivered \(delivery.names.count) to \(app)")
            let paths = delivery.names.map { "Documents/Inbox/\($0.text)" }
            for path in paths { note(Event(.delivered, app: app.text, path: path)) }
            return paths
        }
    }

    func check(_ request: CheckRequest, progress: @escaping ProgressReport) throws(Complaint) -> CheckReport {
        let found = try operations.run { () throws(Complaint) in
            try device.check(repair: request.repair ?? false, openFile: { mounts.openFile(inode: $0) }) {
                report($0, "checking", to: progress)
            }
        }
        let problems = found.problems.map(CheckReport.Problem.init)
        for problem in problems { log.error("check: \(problem.container)/\(problem.path): \(problem.message)") }
        return CheckReport(
            files: found.files, unreadable: found.unreadable, problems: problems,
            repaired: found.repaired.map(CheckReport.Problem.init))
    }

    // MARK: Mounts

    func unmount(_ request: UnmountRequest) throws(Complaint) {
        try operations.run { () throws(Complaint) in
            try mounts.unmount(request.mountPoint, lazy: request.lazy ?? false)
        }
    }

    func whenMountEnds(_ mountPoint: String, _ body: @escaping @Sendable () -> Void) {
        mounts.whenEnded(mountPoint, body)
    }

    // MARK: What requests name

    func identifier(_ text: String) throws(Complaint) -> ContainerIdentifier {
        guard let identifier = ContainerIdentifier(text) else {
            let flaw = ContainerIdentifier.flaw(of: text).map { ": \($0)" } ?? ""
            throw Complaint(.invalidIdentifier, "'\(text)' is not an identifier\(flaw)")
        }
        return identifier
    }

    func identifiers(_ texts: [String]?) throws(Complaint) -> [ContainerIdentifier] {
        var identifiers: [ContainerIdentifier] = []
        for text in texts ?? [] { identifiers.append(try identifier(text)) }
        return identifiers
    }

    func report(_ progress: DeviceProgress, _ activity: String, to report: ProgressReport) -> Bool {
        !operations.isEnding && report(WorkProgress(activity: activity, progress))
    }
}
