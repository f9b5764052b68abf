// All that takes a passcode: unlock, and setting, changing and removing it. One at a time, each wrong one counted.
// Lock: `attempts` is held throughout. It is taken before `state`, and nothing else is taken under it.

public import BackingStore
public import DataProtection
import Platform
public import SandboxModel

extension Device {
    /// Gives the passcode. Takes as long as the keybag's cost says.
    ///
    /// Every key is then in the ring. What the policy is asked with (``BackingStore/StoreContext/deviceState``) is the
    /// caller's to set.
    /// - Throws: ``Complaint`` of kind `wrongPasscode`, `passcodeDelayed` or `damaged`.
    public func unlock(passcode: [UInt8]) throws(Complaint) {
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try directory.openKeybag()
            // A device without a passcode is unlocked, whatever it is told.
            guard keybag.hasPasscode else { return }
            try attempt { () throws(KeybagFault) in
                try keybag.unlock(passcode: passcode, uidKey: uidKey, into: context.keys)
            }
        }
    }

    /// Gives a device without a passcode one. It stays unlocked.
    /// - Throws: ``Complaint`` of kind `passcodeExists`, `invalidPasscode` or `damaged`.
    public func setPasscode(_ new: [UInt8]) throws(Complaint) {
        try Device.requireUsable(new)
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try directory.openKeybag()
            guard !keybag.hasPasscode else { throw .hasPasscode(directory.path) }
            let cost = try Device.cost(level: directory.settings.keyDerivationCost)
            let changed = try Complaint.wrapKeybag(directory.path) { () throws(KeybagFault) in
                try keybag.changingPasscode(from: nil, to: new, uidKey: uidKey, cost: cost)
            }
            // A removal that was interrupted can have left its count, and a new passcode begins without one.
            try directory.clearPasscodeAttempts(holding: lock)
            try replaceKeybag(with: changed)
            reached(.replacedKeybag)
        }
    }

    /// Exchanges the passcode. The device stays as it is, locked or unlocked.
    /// - Throws: ``Complaint`` of kind `noPasscode`, `wrongPasscode`, `passcodeDelayed`, `invalidPasscode` or `damaged`.
    public func changePasscode(from old: [UInt8], to new: [UInt8]) throws(Complaint) {
        try Device.requireUsable(new)
        try attempts.writing { () throws(Complaint) in _ = try rewrap(from: old, to: new) }
    }

    /// Removes the passcode. The device is unlocked then, and stays it: when this returns, every key is in the ring,
    /// whatever the state before was. What the policy is asked with is the caller's to set.
    /// - Throws: ``Complaint`` of kind `noPasscode`, `wrongPasscode`, `passcodeDelayed` or `damaged`.
    public func removePasscode(_ old: [UInt8]) throws(Complaint) {
        try attempts.writing { () throws(Complaint) in
            let (keybag, uidKey) = try rewrap(from: old, to: nil)
            try Complaint.wrapKeybag(directory.path) { () throws(KeybagFault) in
                try keybag.unlockWithoutPasscode(uidKey: uidKey, into: context.keys)
            }
        }
    }

    /// What a passcode has to be so that the first line of a file can be it.
    static func requireUsable(_ passcode: [UInt8]) throws(Complaint) {
        guard !passcode.isEmpty else {
            throw Complaint(.invalidPasscode, "the new passcode is empty; give one of at least one character")
        }
        guard !passcode.contains(UInt8(ascii: "\n")), passcode.last != UInt8(ascii: "\r") else {
            throw Complaint(.invalidPasscode, "the new passcode is more than one line; give one without an end of line")
        }
    }

    private func rewrap(from old: [UInt8], to new: [UInt8]?) throws(Complaint) -> (Keybag, UIDKey) {
        let (keybag, uidKey) = try directory.openKeybag()
        guard keybag.hasPasscode else { throw .noPasscode(directory.path) }
        let cost = try Device.cost(level: directory.settings.keyDerivationCost)
        let changed = try attempt { () throws(KeybagFault) in
            try keybag.changingPasscode(from: old, to: new, uidKey: uidKey, cost: cost)
        }
        try replaceKeybag(with: changed)
        reached(.replacedKeybag)
        return (changed, uidKey)
    }

    // MARK: Wrong ones

    /// Lets somebody try a passcode.
    ///
    /// The attempt is counted, durably, before the passcode is looked at: who kills the process, or cuts the power,
    /// has had it all the same.
    private func attempt<Outcome>(_ body: () throws(KeybagFault) -> Outcome) throws(Complaint) -> Outcome {
        let now = try clock()
        let before = try measurableAttempts(at: now)
        if let before, case let left = before.secondsLeft(at: now), left > 0 {
            throw .passcodeDelayed(before, secondsLeft: left, path: directory.path)
        }
        let counted = PasscodeAttempts(wrong: (before?.wrong ?? 0) + 1, at: now)
        try directory.replacePasscodeAttempts(with: counted, holding: lock)
        reached(.countedAttempt)
        let outcome: Outcome
        do throws(KeybagFault) {
            outcome = try body()
        } catch {
            guard error == .wrongPasscode else { throw Complaint(error, path: directory.path) }
            throw .wrongPasscode(counted, path: directory.path)
        }
        reached(.provedPasscode)
        // The passcode was right, whether this works or not; a count that stays is only too high.
        try? directory.clearPasscodeAttempts(holding: lock)
        reached(.clearedAttempts)
        return outcome
    }

    /// The wrong attempts so far. Nobody knows how long the host was off: after its boot the whole wait begins anew, at
    /// the first look.
    private func measurableAttempts(at now: HostInstant) throws(Complaint) -> PasscodeAttempts? {
        guard let attempts = try directory.passcodeAttempts() else { return nil }
        guard !attempts.isMeasurable(at: now), attempts.delay > 0 else { return attempts }
        let anew = PasscodeAttempts(wrong: attempts.wrong, at: now)
        try directory.replacePasscodeAttempts(with: anew, holding: lock)
        return anew
    }

    /// The first look after a boot of the host. What is wrong with the record, the next attempt says.
    func beginWait() {
        guard hasPasscode, let now = try? clock() else { return }
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
            return (keybag, uidKey)
        }
    }
}

extension Complaint {
    public static func hasPasscode(_ path: String) -> Complaint {
        Complaint(
            .passcodeExists, "\(path) has a passcode already; change it with: appcontainer passcode \(path) change")
    }

    public static func noPasscode(_ path: String) -> Complaint {
        Complaint(.noPasscode, "\(path) has no passcode; set one with: appcontainer passcode \(path) set")
    }

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
