// The served device: its parts, its boot, its shutdown. The handlers of its requests are in extensions, by noun.

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
import Synchronization

/// A booted device with its mounts, and the handlers of the control API.
///
/// It has no lock of its own: each part has. An operation of ``AppOperations`` comes before the locks of all other
/// parts.
final class DeviceService: ServedDevice {
    let device: BootedDevice
    let log: Logger
    let events: EventLog
    let changes: ChangeFeed
    /// Each listing has its names and its reply in memory.
    let listings = Turns(4)
    let socket: String
    var identifier: String { device.directory.uuid }
    let mounts: Mounts
    let operations = AppOperations()
    let running: RunningApps
    let lifecycle: AppLifecycle
    let purger: Purger
    let locking: LockController
    let days: DayWork
    let guests = GuestSockets()
    private let spaceWatch: SpaceWatch
    /// Whether the device has ended, its erase included.
    private let hasEnded = Monitor(false)
    /// Ends the process of this device; set by that. The lock is a leaf.
    private let endProcess = Mutex<(@Sendable () -> Void)?>(nil)
    /// Warnings for the user who started the device, one line each.
    let warnings: [String]

    /// Boots a device. Waits up to fifteen seconds for another process that is about to release it.
    /// - Parameters:
    ///   - transport: for mounts that are asked for without one.
    ///   - guardian: the guard of the mounts; nil for none.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when that process keeps it, or as
    ///   ``DeviceLifecycle/BootedDevice/boot(at:report:)``.
    static func open(
        path: String, runtimeDirectory: String, transport: TransportChoice, guardian: MountGuard?
    ) throws(Complaint) -> DeviceService {
        func open() throws(Complaint) -> DeviceService {
            try DeviceService(
                path: path, runtimeDirectory: runtimeDirectory, transport: transport, guardian: guardian)
        }
        do throws(Complaint) {
            return try open()
        } catch {
            guard error.kind == .deviceBusy, waitForLock(path) else { throw error }
            return try open()
        }
    }

    /// Boots the device and makes the parts, each after those that it uses.
    private init(
        path: String, runtimeDirectory: String, transport: TransportChoice, guardian: MountGuard?
    ) throws(Complaint) {
        // In whose name this process acts is decided before it makes a file: the path may lead elsewhere.
        _ = try DeviceDirectory.open(at: path)
        let log = DaemonLog.logger(device: path)
        let changes = ChangeFeed()
        self.changes = changes
        let events = EventLog(device: path, changes: changes)
        let corruptions = CorruptionLog(log: log, events: events)
        let device = try BootedDevice.boot(at: path) { corruptions.record($0) }
        self.device = device
        self.log = log
        self.events = events
        socket = RuntimeDirectory.socketPath(
            in: runtimeDirectory, device: path, identifier: device.directory.uuid)
        mounts = try Mounts(
            device: device, socket: socket, transport: transport, log: log, events: events, changes: changes,
            guardian: guardian)
        corruptions.watch(mounts)
        lifecycle = AppLifecycle { app, left in events.record(.expiring(app, remaining: left / .seconds(1))) }
        running = RunningApps(
            stopped: { [lifecycle] app, isHeld in lifecycle.forget(app, isHeld: isHeld) },
            ending: { events.record(.terminated($0)) })
        spaceWatch = SpaceWatch(device) { [mounts] in mounts.noticeTightness() }
        locking = LockController(device: device, mounts: mounts) { DeviceService.record($0, events, log) }
        var warnings: [String] = []
        if !device.keysAreLocked {
            warnings.append(
                "memlock is too small to keep the keys out of swap; raise it with ulimit -l, then shut the device down")
        }
        if device.wasErased { warnings.append("ten wrong passcodes have erased the device, as it was set to be") }
        self.warnings = warnings
        purger = Purger(
            device,
            in: PurgeConnection(mounts: mounts, running: running, operations: operations, events: events, log: log))
        let tasks = DayTasks(
            device: device, record: DayRecord(device), locking: locking, mounts: mounts, purger: purger, events: events,
            log: log)
        days = DayWork(tasks, lifecycle: lifecycle)
        events.use(device.clock)
        try startPurging()
        locking.whenChanged { [weak days] in days?.arrange() }
        days.begin { [weak self] (path) throws(Complaint) in try self?.makeScheduledBackup(path) }
        for warning in warnings { log.warning("\(warning)") }
        // Its mounts may still be there, and answer no call.
        if device.session.killed.contains(device.session.number - 1) {
            log.warning("the process of the session before this one was killed")
            AbandonedMount.removeAll(
                of: path, privateDirectory: RuntimeDirectory.privateDirectory(besideSocket: socket))
            mounts.homes.removeAll()
        } else if device.session.powerLost.contains(device.session.number - 1) {
            log.warning("the host went down during the session before this one")
        }
    }

    /// Waits for the lock of the device directory, which its process holds.
    /// - Returns: whether it came free within fifteen seconds.
    private static func waitForLock(_ path: String) -> Bool {
        let free = DispatchSemaphore(value: 0)
        WorkQueue().start {
            if takeLockOnce(path) { free.signal() }
        }
        return free.wait(timeout: .now() + 15) == .success
    }

    /// Waits for the lock and lets go of it again: before the answer, or the caller would find it taken by this one.
    private static func takeLockOnce(_ path: String) -> Bool {
        guard let file = try? Descriptor.open(path: "\(path)/\(DeviceDirectory.Name.lock.text)", flags: O_RDWR) else {
            return false
        }
        return (try? file.lock()) != nil
    }

    // MARK: End

    /// Ends the operations, then what runs, the mounts, purging, the session and the record, in this order: each part
    /// may still use the next. Errors go to the log.
    func shutdown() { endOnce {} }

    /// Ends all parts, and then does what the caller adds. If another call does so already, waits for its end.
    private func endOnce(_ body: () -> Void) {
        guard operations.end() else { return hasEnded.wait { $0 ? () : nil } }
        endParts()
        body()
        hasEnded.access { $0 = true }
    }

    private func endParts() {
        guests.close()
        lifecycle.endStays()
        // Frozen, they would not answer when they are asked.
        for app in lifecycle.suspended { try? running.terminate([app], nil, asking: false) }
        do throws(Complaint) {
            try running.endAll()
        } catch {
            log.error("\(error.message)")
        }
        days.end()
        mounts.endAll()
        spaceWatch.end()
        endPurging()
        do throws(Complaint) {
            try device.shutDown()
        } catch {
            log.error("\(error.message)")
        }
        events.end()
        changes.end()
    }

    /// - Parameter endProcess: requests the end of the process that serves the device.
    func whenErased(_ endProcess: @escaping @Sendable () -> Void) {
        self.endProcess.withLock { $0 = endProcess }
    }

    /// Ends everything, erases the device after ten wrong passcodes, and ends the process. An erase that fails here is
    /// the next boot's.
    func eraseAndEnd() {
        // Before all else: a client that comes from now on waits for the end of this process.
        ControlAPI.remove(socket)
        log.warning("ten wrong passcodes: the device is erased")
        endOnce {
            do throws(Complaint) {
                try device.eraseAfterAttempts()
            } catch {
                log.error("\(error.message)")
            }
        }
        endProcess.withLock { $0 }?()
    }

    // MARK: For handlers

    /// The identifier that a request names.
    /// - Throws: ``Complaint`` of kind `invalidIdentifier`.
    func identifier(_ text: String) throws(Complaint) -> ContainerIdentifier {
        guard let identifier = ContainerIdentifier(text) else {
            let flaw = ContainerIdentifier.flaw(of: text).map { ": \($0)" } ?? ""
            throw Complaint(.invalidIdentifier, "'\(text)' is not an identifier\(flaw)")
        }
        return identifier
    }

    /// The same for a list; null is an empty one.
    func identifiers(_ texts: [String]?) throws(Complaint) -> [ContainerIdentifier] {
        var identifiers: [ContainerIdentifier] = []
        for text in texts ?? [] { identifiers.append(try identifier(text)) }
        return identifiers
    }

    /// Passes progress on to the client.
    /// - Returns: whether the work goes on: false once the client has gone, or the device is ending.
    func report(_ progress: DeviceProgress, _ activity: String, to report: ProgressReport) -> Bool {
        !operations.isEnding && report(WorkProgress(activity: activity, progress))
    }
}
