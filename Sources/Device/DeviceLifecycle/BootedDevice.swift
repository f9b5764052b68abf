// The device that this process serves: booted, its session begun, its keys as far at hand as its state allows. The work
// is done by the device's parts and by a type for each operation.
// Locks: those of the parts. An operation that changes apps or containers holds `installedApps` throughout, one that
// takes a passcode holds `passcode` throughout; all other locks are below them. Nothing of a volume is called under any
// of them.

public import BackingStore
import DataProtection
import Platform
public import SandboxModel
import Synchronization

/// A device that this process alone serves, from its boot to ``shutDown()``.
public final class BootedDevice: Sendable {
    public let directory: DeviceDirectory
    /// The session that the boot began; its number is in every page that this process writes (Format.md, "Sessions").
    public let session: DeviceSession
    /// Keys, session, open files and space, which all files of the device's containers share.
    public let context: StoreContext
    /// The passcode, and the keybag that it opens.
    public let passcode: DevicePasscode
    /// The backup password, and the keybag that backups have under it.
    public let backupPassword: BackupPassword
    /// Its ages and waits are measured by it.
    public let clock: DeviceClock
    /// The registry of apps, and the right to change it.
    let installedApps: InstalledApps
    /// The space that the containers take of the host.
    let space: DeviceSpace
    /// Where containers are built before they have a place.
    let staging: StagingArea
    /// Held from the boot to ``release()``; records are replaced under it alone.
    let lock: DeviceLock
    /// Whether its boot has erased it, because of ten wrong passcodes.
    public let wasErased: Bool
    /// Does nothing outside of tests.
    let reached: Milestone.Observer

    private init(
        _ held: HeldDirectory, _ session: DeviceSession, _ context: StoreContext, _ passcode: DevicePasscode,
        _ clock: DeviceClock, wasErased: Bool, reached: @escaping Milestone.Observer
    ) throws(Complaint) {
        self.wasErased = wasErased
        directory = held.directory
        lock = held.lock
        self.session = session
        self.context = context
        self.passcode = passcode
        backupPassword = BackupPassword(of: held, context: context, identifier: passcode.keybagIdentifier)
        self.clock = clock
        self.reached = reached
        space = DeviceSpace(directory, context.space, isCounted: session.used != nil)
        let registry = try directory.registry()
        installedApps = InstalledApps(registry, in: held, space: space)
        // A device that disobeys was made by a version that makes groups whole, and may have taken it away since.
        if directory.settings.capricious == nil {
            let made = GroupContainer.fillAll(of: registry, in: directory)
            if made > 0 { space.add(Int64(made) * space.directoryBytes) }
        }
        staging = StagingArea(directory, context: StoreContext(staging: context))
    }

    // MARK: Boot and end

    /// Boots a device: takes it for this process, begins a session, and removes what an interrupted operation left.
    ///
    /// With a passcode the device is then before first unlock, without one it is unlocked.
    ///
    /// - Parameter report: gets each place in a file that does not authenticate, once.
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice`, `newerFormat`, `deviceBusy` or `damaged`.
    public static func boot(
        at path: String, report: @escaping @Sendable (Corruption) -> Void
    ) throws(Complaint) -> BootedDevice {
        try boot(at: path, report: report, reached: { _ in })
    }

    /// As ``boot(at:report:)``, for tests.
    /// - Parameters:
    ///   - reached: called at each milestone of an operation.
    ///   - clock: the host's, by which the waits after wrong passcodes are measured.
    static func boot(
        at path: String, report: @escaping @Sendable (Corruption) -> Void, reached: @escaping Milestone.Observer,
        clock: @escaping DevicePasscode.Clock = HostInstant.now
    ) throws(Complaint) -> BootedDevice {
        let directory = try DeviceDirectory.open(at: path)
        let lock = try directory.lock()
        let held = HeldDirectory(directory: directory, lock: lock)
        let wasErased = try directory.eraseAfterAttempts(holding: lock)
        // The keys first: a device that cannot be opened is left as it is.
        let (keybag, uidKey) = try directory.openKeybag()
        let keys = try Complaint.wrapKeybag(path) { () throws(KeybagFault) in
            try keybag.openWithoutPasscode(uidKey: uidKey)
        }
        try directory.removeLeftovers(holding: lock)
        let session = try directory.beginSession(holding: lock)
        let deviceClock = DeviceClock(directory.settings.day?.clock ?? ClockHistory())
        let context = StoreContext(
            keys: keys, history: session.history, space: SpaceLedger(of: directory, session),
            uses: UseRecord(clock: { deviceClock.now }, birth: { deviceClock.time(of: $0) }), report: report)
        let passcode = DevicePasscode(
            keybag, into: keys, of: held, reached: reached,
            clock: { () throws(Complaint) in try clock().later(by: deviceClock.ahead) })
        let device = try BootedDevice(
            held, session, context, passcode, deviceClock, wasErased: wasErased, reached: reached)
        passcode.beginWait()
        if session.start == .unknown {
            report(.ofRecord(DeviceDirectory.Name.sessions))
        }
        return device
    }

    /// Ends the session. Every file of the device is closed by then.
    ///
    /// The files in which a write failed halfway are recorded with it, so that the next session looks at them closely.
    public func shutDown() throws(Complaint) {
        try installedApps.end { () throws(Complaint) in
            // No replaced bundle is in use any more: every mount has ended.
            _ = try? directory.emptyStaging()
            try directory.endSession(
                used: context.isDisturbed ? nil : space.used, unfinished: context.disturbedFiles, holding: lock)
        }
    }

    /// Lets others have the device, after ``shutDown()``, before this process ends. No other call may follow.
    public func release() {
        lock.release()
    }

    /// Deletes the device after ``shutDown()``, with whatever else lies in its directory. Nobody can have it in
    /// between.
    public func delete() throws(Complaint) {
        try directory.delete(holding: lock, withStrangers: true)
    }

    // MARK: State

    /// Changes what the device does by itself, and its clock's record. Durable on return.
    public func changeDay(_ change: (inout DaySettings) -> Void) throws(Complaint) {
        try directory.changeSettings(holding: lock) { settings in
            var day = settings.day ?? DaySettings()
            change(&day)
            settings.day = day
        }
    }

    /// Whether every key lies in memory that is locked. It does not where the limit of lockable memory is too small.
    public var keysAreLocked: Bool { SecretMemory.isLocked }

    /// Without a passcode a device is always unlocked.
    public var hasPasscode: Bool { passcode.isSet }

    /// The installed apps and their extensions, by identifier.
    public var apps: [InstalledApp] { installedApps.registry.apps }

    /// The installed apps, and the containers that wait for theirs.
    public var registry: AppRegistry { installedApps.registry }

    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func app(_ identifier: ContainerIdentifier) throws(Complaint) -> InstalledApp {
        try installedApps.app(identifier)
    }

    /// Waits until no operation that changes apps or containers is under way.
    public func awaitChange() { installedApps.awaitChange() }
}
