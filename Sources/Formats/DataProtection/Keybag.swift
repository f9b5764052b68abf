// The device's class keys, wrapped; what passcode and UID key open, and how a passcode changes.

import SandboxModel

/// Why a keybag cannot be read or opened.
public enum KeybagFault: Error, Hashable, Sendable {
    /// Shorter or longer than a keybag is.
    case truncated
    /// Bytes were changed.
    case damaged
    /// Written by a later version of the format.
    case newerVersion(UInt32)
    /// Whole, but made under another device's UID key.
    case otherDevice
    /// The passcode is not the keybag's, or there is none where one was asked for, or the other way round.
    case wrongPasscode
}

/// A key for each protection class, each wrapped; a value that is written as a whole.
///
/// Class D is wrapped under a key made of the UID key. The others are wrapped under the passcode's key where there
/// is a passcode, else under a further key made of the UID key. The passcode's key is the passcode through scrypt,
/// then HMAC-SHA-256 under a key made of the UID key. Once, not iterated as in Apple's hardware: there the iteration
/// is the slow part, and only the chip can do it; here the UID key is a file, and scrypt, which costs memory as well
/// as time, is the slow part. Who lacks either the UID key or a guess's scrypt cannot test the guess.
public struct Keybag: Equatable, Sendable {
    /// 16 random bytes, made with the keybag and kept for its life; the salt of every key made of the UID key.
    public let identifier: [UInt8]
    /// Tells another device's keybag from a damaged one: a value made of the UID key that reveals nothing of it.
    let deviceMark: [UInt8]
    public let hasPasscode: Bool
    public let cost: PasscodeCost
    /// New with every passcode.
    let salt: [UInt8]
    let complete: [UInt8]
    let unlessOpenPublic: [UInt8]
    let unlessOpen: [UInt8]
    let untilFirst: [UInt8]
    let none: [UInt8]
    /// HMAC-SHA-256 over all of the above, under a key made of the UID key.
    let authenticationCode: [UInt8]

    /// New class keys, and a ring in which all of them are at hand.
    /// - Parameter cost: of a guess of the passcode; nil for what is measured to take as long as it should.
    public static func create(
        passcode: [UInt8]?, uidKey: UIDKey, cost: PasscodeCost? = nil
    ) -> (Keybag, KeyRing) {
        var random = RandomStream()
        let cost = cost ?? (passcode == nil ? .unused : .measured())
        return create(passcode: passcode, uidKey: uidKey, cost: cost, random: &random)
    }

    static func create(
        passcode: [UInt8]?, uidKey: UIDKey, cost: PasscodeCost, random: inout RandomStream
    ) -> (Keybag, KeyRing) {
        let identifier = random.bytes(identifierLength)
        let keys = ProtectedKeys(complete: random.secret(), unlessOpen: random.secret(), untilFirst: random.secret())
        let none = random.secret()
        let keybag = Keybag(
            identifier: identifier, passcode: passcode, uidKey: uidKey, cost: cost,
            salt: random.bytes(saltLength), keys: keys,
            wrappedNone: KeyWrap(under: derive(.classD, uidKey, identifier)).wrap(none))
        let ring = KeyRing()
        ring.setPublicKey(keybag.unlessOpenPublic)
        ring.insert(ClassKey(none), for: .none)
        keys.insert(into: ring)
        return (keybag, ring)
    }

    /// A ring with what is at hand after a boot: class D, class B for new files, and without a passcode all.
    /// - Throws: ``KeybagFault/otherDevice``, ``KeybagFault/damaged``.
    public func openWithoutPasscode(uidKey: UIDKey) throws(KeybagFault) -> KeyRing {
        try authenticate(uidKey: uidKey)
        guard let key = KeyWrap(under: Keybag.derive(.classD, uidKey, identifier)).unwrap(none) else {
            throw .damaged
        }
        let ring = KeyRing()
        ring.setPublicKey(unlessOpenPublic)
        ring.insert(ClassKey(key), for: .none)
        if !hasPasscode { try protectedKeys(passcode: nil, uidKey: uidKey).insert(into: ring) }
        return ring
    }

    /// Puts classes A, B and C into the ring. Takes as long as the cost says.
    /// - Throws: ``KeybagFault/wrongPasscode``, ``KeybagFault/otherDevice``, ``KeybagFault/damaged``; the ring is then
    ///   as it was.
    public func unlock(passcode: [UInt8], uidKey: UIDKey, into ring: KeyRing) throws(KeybagFault) {
        try protectedKeys(passcode: passcode, uidKey: uidKey).insert(into: ring)
    }

    /// Puts classes A, B and C into the ring where no passcode protects them.
    /// - Throws: as ``unlock(passcode:uidKey:into:)``.
    public func unlockWithoutPasscode(uidKey: UIDKey, into ring: KeyRing) throws(KeybagFault) {
        try protectedKeys(passcode: nil, uidKey: uidKey).insert(into: ring)
    }

    /// The same class keys under another passcode, or under none. No file is touched.
    /// - Parameters:
    ///   - old: the present passcode, nil when there is none.
    ///   - cost: of a guess of the new one; nil for what is measured to take as long as it should.
    /// - Throws: as ``unlock(passcode:uidKey:into:)``.
    public func changingPasscode(
        from old: [UInt8]?, to new: [UInt8]?, uidKey: UIDKey, cost: PasscodeCost? = nil
    ) throws(KeybagFault) -> Keybag {
        var random = RandomStream()
        let cost = cost ?? (new == nil ? self.cost : .measured())
        return try changingPasscode(from: old, to: new, uidKey: uidKey, cost: cost, random: &random)
    }

    func changingPasscode(
        from old: [UInt8]?, to new: [UInt8]?, uidKey: UIDKey, cost: PasscodeCost, random: inout RandomStream
    ) throws(KeybagFault) -> Keybag {
        let keys = try protectedKeys(passcode: old, uidKey: uidKey)
        return Keybag(
            identifier: identifier, passcode: new, uidKey: uidKey, cost: cost,
            salt: random.bytes(Keybag.saltLength), keys: keys, wrappedNone: none)
    }

    /// Whether this is the device's own keybag, unchanged.
    /// - Throws: ``KeybagFault/otherDevice``, ``KeybagFault/damaged``.
    public func authenticate(uidKey: UIDKey) throws(KeybagFault) {
        guard deviceMark == Keybag.mark(uidKey, identifier) else { throw .otherDevice }
        let code = Derivation.authenticationCode(
            Keybag.derive(.authentication, uidKey, identifier), over: authenticatedBytes())
        // Every byte is looked at, so that the time taken says nothing of where they differ.
        let difference = zip(code, authenticationCode).reduce(0) { $0 | ($1.0 ^ $1.1) }
        guard difference == 0 else { throw .damaged }
    }
}

extension Keybag {
    /// What a key made of the UID key is for. The text goes into HKDF and is part of the format.
    private enum Purpose: String {
        case authentication = "appcontainer keybag 1: authentication"
        case deviceMark = "appcontainer keybag 1: device mark"
        case classD = "appcontainer keybag 1: class D"
        case withoutPasscode = "appcontainer keybag 1: without passcode"
        case passcode = "appcontainer keybag 1: passcode"
    }

    private init(
        identifier: [UInt8], passcode: [UInt8]?, uidKey: UIDKey, cost: PasscodeCost, salt: [UInt8],
        keys: borrowing ProtectedKeys, wrappedNone: [UInt8]
    ) {
        let wrap = KeyWrap(under: Keybag.wrappingKey(passcode, uidKey, identifier, salt, cost))
        let sealed = Keybag(
            identifier: identifier, deviceMark: Keybag.mark(uidKey, identifier), hasPasscode: passcode != nil,
            cost: cost, salt: salt, complete: wrap.wrap(keys.complete),
            unlessOpenPublic: Agreement.Pair(keys.unlessOpen).publicKey, unlessOpen: wrap.wrap(keys.unlessOpen),
            untilFirst: wrap.wrap(keys.untilFirst), none: wrappedNone, authenticationCode: [])
        let code = Derivation.authenticationCode(
            Keybag.derive(.authentication, uidKey, identifier), over: sealed.authenticatedBytes())
        self = Keybag(
            identifier: sealed.identifier, deviceMark: sealed.deviceMark, hasPasscode: sealed.hasPasscode,
            cost: sealed.cost, salt: sealed.salt, complete: sealed.complete,
            unlessOpenPublic: sealed.unlessOpenPublic, unlessOpen: sealed.unlessOpen, untilFirst: sealed.untilFirst,
            none: sealed.none, authenticationCode: code)
    }

    private func protectedKeys(passcode: [UInt8]?, uidKey: UIDKey) throws(KeybagFault) -> ProtectedKeys {
        // First, so that a failure below can only mean the passcode.
        try authenticate(uidKey: uidKey)
        guard hasPasscode == (passcode != nil) else { throw .wrongPasscode }
        let wrap = KeyWrap(under: Keybag.wrappingKey(passcode, uidKey, identifier, salt, cost))
        guard let complete = wrap.unwrap(complete), let unlessOpen = wrap.unwrap(unlessOpen),
            let untilFirst = wrap.unwrap(untilFirst)
        else { throw .wrongPasscode }
        return ProtectedKeys(complete: complete, unlessOpen: unlessOpen, untilFirst: untilFirst)
    }

    private static func wrappingKey(
        _ passcode: [UInt8]?, _ uidKey: UIDKey, _ identifier: [UInt8], _ salt: [UInt8], _ cost: PasscodeCost
    ) -> SecretCell {
        guard let passcode else { return derive(.withoutPasscode, uidKey, identifier) }
        let stretched = Derivation.scrypt(passcode, salt: salt, cost: cost)
        return Derivation.tangle(stretched, with: derive(.passcode, uidKey, identifier))
    }

    private static func derive(_ purpose: Purpose, _ uidKey: UIDKey, _ identifier: [UInt8]) -> SecretCell {
        Derivation.hkdf(uidKey.secret, salt: identifier, label: Array(purpose.rawValue.utf8))
    }

    private static func mark(_ uidKey: UIDKey, _ identifier: [UInt8]) -> [UInt8] {
        let mark = Derivation.authenticationCode(derive(.deviceMark, uidKey, identifier), over: identifier)
        return Array(mark.prefix(deviceMarkLength))
    }
}

/// The keys that a passcode protects, in the clear.
private struct ProtectedKeys: ~Copyable {
    let complete: SecretCell
    let unlessOpen: SecretCell
    let untilFirst: SecretCell

    consuming func insert(into ring: KeyRing) {
        ring.insert(ClassKey(complete), for: .complete)
        ring.insert(ClassKey(unlessOpen), for: .completeUnlessOpen)
        ring.insert(ClassKey(untilFirst), for: .completeUntilFirstUserAuthentication)
    }
}
