// Making, copying, erasing and deleting devices: what is done while a device is shut down.

public import BackingStore
import DataProtection
import Platform
public import SandboxModel

extension Device {
    /// Makes an empty device.
    ///
    /// - Parameters:
    ///   - passcode: its bytes; nil for a device without one.
    ///   - costLevel: how slow a guess of the passcode is made (``DataProtection/PasscodeCost``); nil for about
    ///     80 ms on this machine.
    ///   - lockGrace: how many seconds the device stays unlocked after it was told to lock; nil for the usual time.
    ///   - capacity: how many bytes it holds; nil for what the host's filesystem does.
    /// - Throws: ``Complaint`` of kind `deviceExists`, `hostFilesystem`, `notFound`, `invalidPasscode`,
    ///   `invalidIdentifier` or `badRequest`.
    public static func create(
        at path: String, passcode: [UInt8]? = nil, costLevel: Int? = nil, lockGrace: Double? = nil,
        capacity: Int64? = nil
    ) throws(Complaint) {
        if let passcode { try requireUsable(passcode) }
        let cost = try cost(level: costLevel)
        try requireUsable(lockGrace: lockGrace)
        try requireUsable(capacity: capacity)
        let settings = DeviceSettings(keyDerivationCost: costLevel, lockGrace: lockGrace, capacity: capacity)
        try DeviceDirectory.create(at: path, settings: settings) { (uidKey) throws(Complaint) in
            Keybag.create(passcode: passcode, uidKey: uidKey, cost: cost).0.encoded()
        }
    }

    /// Makes a second device with the same content and a UUID of its own. Of several at once each waits for its turn.
    /// - Parameter counting: whether `progress` is told the total; all is looked through for that, before the copy.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down, `deviceExists`, `noSpace`.
    public static func clone(
        _ path: String, to newPath: String, counting: Bool = true,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: path)
        let turn = try directory.takeTurn()
        let lock = try directory.lock()
        defer {
            // Before the turn is over: whoever has the next one finds the device free. The end of a value's life says no
            // such thing.
            lock.release()
            withExtendedLifetime(turn) {}
        }
        try directory.clone(to: newPath, holding: lock, counting: counting, progress: progress)
    }

    /// Makes the device as new: no app, other keys, no passcode; its settings stay.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down.
    public static func erase(
        _ path: String, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: path)
        let cost = try cost(level: directory.settings.keyDerivationCost)
        try directory.erase(
            holding: try directory.lock(),
            makeKeybag: { (uidKey) throws(Complaint) in
                Keybag.create(passcode: nil, uidKey: uidKey, cost: cost).0.encoded()
            }, progress: progress)
    }

    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down, `notAllowed` when its directory
    ///   holds something that is not the device's.
    public static func delete(
        _ path: String, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: path)
        try directory.delete(holding: try directory.lock(), progress: progress)
    }

    /// The first line of a passcode file, without its end.
    /// - Throws: ``Complaint`` of kind `notFound`, `notAllowed` or `invalidPasscode`.
    public static func passcode(inFile path: String) throws(Complaint) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try HostPath.contents(path, limit: 1 << 16)
        } catch {
            if error == .noEntry {
                throw Complaint(
                    .notFound, "the passcode file \(path) does not exist; make it, with the passcode as its first line")
            }
            if error == .isDirectory {
                throw Complaint(
                    .invalidPasscode,
                    "the passcode file \(path) is a directory; name a file with the passcode as its first line")
            }
            throw Complaint(error, doing: "cannot read the passcode file \(path)")
        }
        var line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw Complaint(
                .invalidPasscode, "the first line of the passcode file \(path) is empty; write the passcode there")
        }
        return line
    }

    /// Whether a device can be made with these settings.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    public static func requireUsable(costLevel: Int?, lockGrace: Double?) throws(Complaint) {
        _ = try cost(level: costLevel)
        try requireUsable(lockGrace: lockGrace)
    }

    private static func requireUsable(lockGrace: Double?) throws(Complaint) {
        guard let lockGrace, !DeviceSettings.lockGraces.contains(lockGrace) else { return }
        throw Complaint(
            .badRequest, "the grace period of \(lockGrace) seconds is not one of 0 to 86400; choose another")
    }

    /// What a guess of the passcode costs; nil where nothing was chosen.
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
