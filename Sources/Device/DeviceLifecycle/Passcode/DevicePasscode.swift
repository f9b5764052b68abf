// A device's passcode: unlock, and setting, changing and removing it. One at a time, each wrong one counted.
// Locks: `attempts` is held for the whole of a call that takes a passcode; `keybag` below it, for moments only.

public import BackingStore
public import DataProtection
import Platform
public import SandboxModel
import Synchronization

/// The passcode of a booted device, with the keybag that it opens and the waits after wrong attempts.
public final class DevicePasscode: Sendable {
    /// Measures the waits after wrong passcodes.
    typealias Clock = @Sendable () throws(Complaint) -> HostInstant

    private let directory: DeviceDirectory
    /// The right to replace the device's records.
    private let lock: DeviceLock
    /// The class keys that the passcode opens are put into this ring.
    private let keys: KeyRing
    /// A copy of the one on disk, for questions that must not read it. Lock: see the top of the file.
    private let keybag: Mutex<Keybag>
    private let attempts = ReadWriteLock()
    private let clock: Clock
    private let reached: Milestone.Observer

    init(
        _ keybag: Keybag, into keys: KeyRing, of held: HeldDirectory, reached: @escaping Milestone.Observer,
        clock: @escaping Clock
    ) {
        directory = held.directory
        lock = held.lock
        self.keys = keys
        self.keybag = Mutex(keybag)
        self.clock = clock
        self.reached = reached
    }

    /// Whether the device has a passcode.
    public var isSet: Bool { keybag.withLock { $0.hasPasscode } }

    /// The identifier of the keybag: content that is sealed under its keys can be read with no other.
    var keybagIdentifier: [UInt8] { keybag.withLock { $0.identifier } }

    // MARK: Calls with a passcode

    /// Gives the passcode. Takes as long as the keybag's cost says.
    ///
    /// Every key is then in the ring. The state that the policy is asked with
    /// (``BackingStore/StoreContext/deviceState``) is the caller's to set.
    /// - Throws: ``Complaint`` of kind `wrongPasscode`, `passcodeDelayed`, `deviceErased` or `damaged`.
    public func unlock(_ passcode: [UInt8]) throws(Complaint) {
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try directory.openKeybag()
            // A device without a passcode is unlocked, with whatever passcode.
            guard keybag.hasPasscode else { return }
            try attempt { () throws(KeybagFault) in
                try keybag.unlock(passcode: passcode, uidKey: uidKey, into: keys)
            }
        }
    }

    /// Gives a device without a passcode one. It stays unlocked.
    /// - Parameter eraseAfterTen: whether ten wrong passcodes erase the device; nil leaves that as it is.
    /// - Throws: ``Complaint`` of kind `passcodeExists`, `invalidPasscode` or `damaged`.
    public func set(_ new: [UInt8], eraseAfterTen: Bool? = nil) throws(Complaint) {
        try DevicePasscode.requireUsable(new)
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try directory.openKeybag()
            guard !keybag.hasPasscode else { throw .hasPasscode(directory.path) }
            let cost = try StoredDevice.cost(level: directory.settings.keyDerivationCost)
            let changed = try Complaint.wrapKeybag(directory.path) { () throws(KeybagFault) in
                try keybag.changingPasscode(from: nil, to: new, uidKey: uidKey, cost: cost)
            }
            // A removal that was interrupted can have left its count, and a new passcode begins without one.
            try directory.clearPasscodeAttempts(holding: lock, durably: true)
            try replace(eraseAfterTen: eraseAfterTen)
            try replaceKeybag(with: changed)
            reached(.replacedKeybag)
        }
    }

    /// Exchanges the passcode, perhaps for the same one. The device stays as it is, locked or unlocked.
    /// - Parameter eraseAfterTen: as for ``set(_:eraseAfterTen:)``.
    /// - Throws: ``Complaint`` of kind `noPasscode`, `wrongPasscode`, `passcodeDelayed`, `deviceErased`,
    ///   `invalidPasscode` or `damaged`.
    public func change(from old: [UInt8], to new: [UInt8], eraseAfterTen: Bool? = nil) throws(Complaint) {
        try DevicePasscode.requireUsable(new)
        try attempts.writing { () throws(Complaint) in
            _ = try rewrap(from: old, to: new, eraseAfterTen: eraseAfterTen)
        }
    }

    /// Removes the passcode. The device is unlocked then, and stays so: when this returns, every key is in the ring,
    /// whatever the state before was. The state that the policy is asked with is the caller's to set.
    /// - Parameter eraseAfterTen: as for ``set(_:eraseAfterTen:)``; it counts once there is a passcode again.
    /// - Throws: ``Complaint`` of kind `noPasscode`, `wrongPasscode`, `passcodeDelayed`, `deviceErased` or `damaged`.
    public func remove(_ old: [UInt8], eraseAfterTen: Bool? = nil) throws(Complaint) {
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try rewrap(from: old, to: nil, eraseAfterTen: eraseAfterTen)
            try Complaint.wrapKeybag(directory.path) { () throws(KeybagFault) in
                try keybag.unlockWithoutPasscode(uidKey: uidKey, into: keys)
            }
        }
    }

    /// A passcode can be the first line of a file, so it has to be one line.
    /// - Throws: ``Complaint`` of kind `invalidPasscode`.
    static func requireUsable(_ passcode: [UInt8]) throws(Complaint) {
        guard !passcode.isEmpty else {
            throw Complaint(.invalidPasscode, "the new passcode is empty; give one of at least one character")
        }
        guard !passcode.contains(UInt8(ascii: "\n")) else {
            throw Complaint(.invalidPasscode, "the new passcode is more than one line; give one without an end of line")
        }
        guard passcode.last != UInt8(ascii: "\r") else {
            throw Complaint(
                .invalidPasscode,
                "the new passcode ends with a carriage return, which the first line of a file does not keep; "
                    + "give one without it")
        }
    }

    /// Wraps the keys anew for `new`; nil for no passcode. The class keys stay the same, so that no file changes.
    /// - Throws: ``Complaint`` of kind `noPasscode`, `wrongPasscode`, `passcodeDelayed`, `deviceErased` or `damaged`.
    private func rewrap(
        from old: [UInt8], to new: [UInt8]?, eraseAfterTen: Bool?
    ) throws(Complaint) -> (Keybag, UIDKey) {
        let (keybag, uidKey) = try directory.openKeybag()
        guard keybag.hasPasscode else { throw .noPasscode(directory.path) }
        let cost = try StoredDevice.cost(level: directory.settings.keyDerivationCost)
        let changed = try attempt { () throws(KeybagFault) in
            try keybag.changingPasscode(from: old, to: new, uidKey: uidKey, cost: cost)
        }
        // First: a passcode is never without the setting that it was given with.
        try replace(eraseAfterTen: eraseAfterTen)
        try replaceKeybag(with: changed)
        reached(.replacedKeybag)
        return (changed, uidKey)
    }

    private func replace(eraseAfterTen: Bool?) throws(Complaint) {
        guard let eraseAfterTen, eraseAfterTen != (directory.settings.eraseAfterTen ?? false) else { return }
        try directory.changeSettings(holding: lock) { $0.eraseAfterTen = eraseAfterTen ? true : nil }
    }

    /// Durable when it returns; a process that ends before leaves the old keybag or the new one.
    private func replaceKeybag(with changed: Keybag) throws(Complaint) {
        try directory.replaceKeybag(with: changed.encoded(), holding: lock)
        keybag.withLock { $0 = changed }
    }

    // MARK: Wrong attempts

    /// The wrong attempts so far, and the seconds until the next one is let in. Neither is known of a damaged record,
    /// which lets no attempt in; the next one reports it.
    public var standing: (wrong: Int, secondsLeft: Int64) {
        guard let now = try? clock(), let attempts = (try? directory.passcodeAttempts()) ?? nil else { return (0, 0) }
        return (attempts.wrong, attempts.isMeasurable(at: now) ? attempts.secondsLeft(at: now) : attempts.delay)
    }

    /// Tries a passcode, unless the wait after wrong ones is not over.
    ///
    /// The attempt is counted, durably, before the passcode is looked at: it counts also if the process is killed or
    /// the power cut meanwhile. One wrong passcode that is given again counts once.
    ///
    /// Where ten erase the device, the count of the tenth is the decision: from then on no passcode is looked at, and
    /// the next boot erases what this process does not (``DeviceDirectory/eraseAfterAttempts(holding:)``).
    private func attempt<Outcome>(_ body: () throws(KeybagFault) -> Outcome) throws(Complaint) -> Outcome {
        let now = try clock()
        let before = try measurableAttempts(at: now)
        let erases = directory.settings.eraseAfterTen == true
        if erases, let before, before.wrong >= PasscodeAttempts.most { throw .deviceErased(directory.path) }
        if let before, case let left = before.secondsLeft(at: now), left > 0 {
            throw .passcodeDelayed(before, secondsLeft: left, path: directory.path)
        }
        var counted = PasscodeAttempts(wrong: (before?.wrong ?? 0) + 1, at: now, lastWrong: before?.lastWrong)
        try directory.replacePasscodeAttempts(with: counted, holding: lock)
        reached(.countedAttempt)
        let outcome: Outcome
        do throws(KeybagFault) {
            outcome = try body()
        } catch {
            guard case .wrongPasscode(let mark) = error else { throw Complaint(error, path: directory.path) }
            if let before, before.lastWrong == mark.hexadecimal {
                counted = before
            } else {
                counted.lastWrong = mark.hexadecimal
            }
            try directory.replacePasscodeAttempts(with: counted, holding: lock)
            guard !erases || counted.wrong < PasscodeAttempts.most else {
                reached(.decidedErase)
                throw .deviceErased(directory.path)
            }
            throw .wrongPasscode(counted, path: directory.path)
        }
        reached(.provedPasscode)
        if erases, counted.wrong >= PasscodeAttempts.most {
            // A count that a power cut brought back would erase the device.
            try directory.clearPasscodeAttempts(holding: lock, durably: true)
        } else {
            // The passcode was right, whether this works or not; a count that stays is only too high.
            try? directory.clearPasscodeAttempts(holding: lock)
        }
        reached(.clearedAttempts)
        return outcome
    }

    /// The wrong attempts so far. How long the host was off is not known: after its boot the whole wait begins anew, at
    /// the first look.
    private func measurableAttempts(at now: HostInstant) throws(Complaint) -> PasscodeAttempts? {
        guard let attempts = try directory.passcodeAttempts() else { return nil }
        guard !attempts.isMeasurable(at: now), attempts.delay > 0 else { return attempts }
        let anew = PasscodeAttempts(wrong: attempts.wrong, at: now, lastWrong: attempts.lastWrong)
        try directory.replacePasscodeAttempts(with: anew, holding: lock)
        return anew
    }

    /// The first look after a boot of the host: the wait of earlier attempts is measured from it. An error of the
    /// record is for the next attempt to report.
    func beginWait() {
        guard isSet, let now = try? clock() else { return }
        _ = try? measurableAttempts(at: now)
    }
}

extension DeviceDirectory {
    /// The keybag, which is whole and this device's own, and the key that it depends on.
    /// - Throws: ``Complaint`` of kind `damaged` or `newerFormat`.
    public func openKeybag() throws(Complaint) -> (Keybag, UIDKey) {
        let bytes = try keybag()
        let uidKey = try uidKey()
        return try Complaint.wrapKeybag(path) { () throws(KeybagFault) in
            let keybag = try Keybag(decoding: bytes)
            try keybag.authenticate(uidKey: uidKey)
            try keybag.requireCost(level: settings.keyDerivationCost)
            return (keybag, uidKey)
        }
    }
}

extension Complaint {
    /// The complaint of `set` where there is a passcode.
    public static func hasPasscode(_ path: String) -> Complaint {
        Complaint(
            .passcodeExists, "\(path) has a passcode already; change it with: appcontainer passcode \(path) change")
    }

    /// The complaint of a call that needs a passcode where there is none.
    public static func noPasscode(_ path: String) -> Complaint {
        Complaint(.noPasscode, "\(path) has no passcode; set one with: appcontainer passcode \(path) set")
    }

    /// Runs calls of the keybag, and turns a fault into a complaint.
    static func wrapKeybag<Result>(
        _ path: String, _ body: () throws(KeybagFault) -> Result
    ) throws(Complaint) -> Result {
        do throws(KeybagFault) {
            return try body()
        } catch {
            throw Complaint(error, path: path)
        }
    }
}
