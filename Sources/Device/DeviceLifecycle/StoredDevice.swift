// Making, copying, erasing and deleting devices that are shut down.

public import BackingStore
import DataProtection
import Platform
public import SandboxModel

/// A device that is shut down: what is done to it as a whole. Each call holds the device's lock, so that nobody boots
/// it meanwhile.
public enum StoredDevice {
    /// Makes an empty device.
    ///
    /// - Parameters:
    ///   - passcode: its bytes; nil for a device without one.
    ///   - costLevel: how slow a guess of the passcode is made (``DataProtection/PasscodeCost``); nil for about
    ///     80 ms on this machine.
    ///   - lockGrace: how many seconds the device stays unlocked after the command to lock; nil for the usual time.
    ///   - capacity: how many bytes it holds; nil for the capacity of the host's filesystem.
    /// - Throws: ``Complaint`` of kind `deviceExists`, `hostFilesystem`, `notFound`, `invalidPasscode`,
    ///   `invalidIdentifier` or `badRequest`.
    public static func create(
        at path: String, passcode: [UInt8]? = nil, costLevel: Int? = nil, lockGrace: Double? = nil,
        capacity: Int64? = nil
    ) throws(Complaint) {
        try create(
            at: path, passcode: passcode,
            settings: DeviceSettings(keyDerivationCost: costLevel, lockGrace: lockGrace, capacity: capacity))
    }

    /// Makes an empty device with these settings.
    /// - Throws: as ``create(at:passcode:costLevel:lockGrace:capacity:)``.
    public static func create(
        at path: String, passcode: [UInt8]? = nil, settings: DeviceSettings
    ) throws(Complaint) {
        if let passcode { try DevicePasscode.requireUsable(passcode) }
        let cost = try cost(level: settings.keyDerivationCost)
        try requireUsable(lockGrace: settings.lockGrace)
        try requireUsable(capacity: settings.capacity)
        try requireUsable(seed: settings.capricious?.seed)
        try DeviceDirectory.create(at: path, settings: settings) { (uidKey) throws(Complaint) in
            Keybag.create(passcode: passcode, uidKey: uidKey, cost: cost).0.encoded()
        }
    }

    /// Makes a second device with the same content and a UUID of its own. Of several copies at once each waits for its
    /// turn.
    /// - Parameter counting: whether `progress` gets the total, for which everything is looked through before the copy.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down, `deviceExists`, `noSpace`.
    public static func clone(
        _ path: String, to newPath: String, counting: Bool = true,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        try inTurn(path) { (directory, lock) throws(Complaint) in
            try directory.clone(to: newPath, holding: lock, counting: counting, progress: progress)
        }
    }

    /// Locks a device after the others that copy it, for the time of a body.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down.
    static func inTurn<Result>(
        _ path: String, _ body: (DeviceDirectory, DeviceLock) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        let directory = try DeviceDirectory.open(at: path)
        let turn = try directory.takeTurn()
        let lock = try directory.lock()
        defer {
            // Before the turn is over, so that the next in turn finds the device free. The end of a value's life
            // promises no such order.
            lock.release()
            withExtendedLifetime(turn) {}
        }
        return try body(directory, lock)
    }

    /// Makes the device as new: no app, other keys, no passcode; its settings stay.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down.
    public static func erase(
        _ path: String, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: path)
        try erase(directory, holding: try directory.lock(), progress: progress)
    }

    static func erase(
        _ directory: DeviceDirectory, holding lock: DeviceLock, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let cost = try cost(level: directory.settings.keyDerivationCost)
        try directory.erase(
            holding: lock,
            makeKeybag: { (uidKey) throws(Complaint) in
                Keybag.create(passcode: nil, uidKey: uidKey, cost: cost).0.encoded()
            }, progress: progress)
    }

    /// Removes the device with its directory.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down, `notAllowed` when its directory
    ///   holds something that is not the device's.
    public static func delete(
        _ path: String, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: path)
        try directory.delete(holding: try directory.lock(), progress: progress)
    }

    // MARK: Settings

    /// Checks settings before a device is made with them.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    public static func requireUsable(costLevel: Int?, lockGrace: Double?) throws(Complaint) {
        _ = try cost(level: costLevel)
        try requireUsable(lockGrace: lockGrace)
    }

    private static func requireUsable(lockGrace: Double?) throws(Complaint) {
        guard let lockGrace, !DeviceSettings.lockGraces.contains(lockGrace) else { return }
        let (least, most) = (Int(DeviceSettings.lockGraces.lowerBound), Int(DeviceSettings.lockGraces.upperBound))
        throw Complaint(
            .badRequest, "the grace period of \(lockGrace) seconds is not one of \(least) to \(most); choose another")
    }

    /// - Throws: ``Complaint`` of kind `badRequest` for a capacity that no device can have.
    static func requireUsable(capacity: Int64?) throws(Complaint) {
        guard let capacity, !DeviceSettings.capacities.contains(capacity) else { return }
        throw Complaint(
            .badRequest, "a capacity is from 1M to 1E; give one of these, or none for that of the host")
    }

    /// The cost of a guess of the passcode; nil where no level was chosen.
    /// - Throws: ``Complaint`` of kind `badRequest` for a level that does not exist.
    static func cost(level: Int?) throws(Complaint) -> PasscodeCost? {
        guard let level else { return nil }
        guard let cost = PasscodeCost(level: level) else {
            let levels = PasscodeCost.levels
            throw Complaint(
                .badRequest,
                "the cost level \(level) is not one of \(levels.lowerBound) to \(levels.upperBound); choose another")
        }
        return cost
    }
}

extension StoredDevice {
    /// Gives a device another capacity, and its containers another owner, before it is used.
    /// - Parameters:
    ///   - capacity: bytes; nil for the present one.
    ///   - user: the user of all apps from now on, with the group of the same number; nil for the present ones.
    /// - Throws: ``Complaint`` of kind `badRequest` for a capacity that no device has, `deviceBusy`, or with the host's
    ///   error.
    public static func configure(_ path: String, capacity: Int64?, user: UInt32?) throws(Complaint) {
        try requireUsable(capacity: capacity)
        let directory = try DeviceDirectory.open(at: path)
        let lock = try directory.lock()
        defer { lock.release() }
        if let user { try directory.giveContainers(to: user, group: user, holding: lock) }
        if let capacity { try directory.changeSettings(holding: lock) { $0.capacity = capacity } }
    }
}
