// The device's keybag: the class keys, wrapped under keys that passcode and UID key give.

import SandboxModel

/// Reasons why a keybag cannot be read or opened.
public enum KeybagFault: Error, Hashable, Sendable {
    /// Shorter or longer than a keybag is.
    case truncated
    /// Bytes were changed.
    case damaged
    /// Written by a later version of the format.
    case newerVersion(UInt32)
    /// Whole, but made under another device's UID key.
    case otherDevice
    /// The passcode is not the keybag's; or it has none and one was given, or the reverse.
    /// - mark: equal for equal passcodes given to one keybag; empty where none was given, or none is set. It is made
    ///   from the stretched passcode, so that a guess costs as much as at the keybag.
    case wrongPasscode(mark: [UInt8])
}

/// A wrapped key for each protection class. A value that is written as a whole.
///
/// Class D is wrapped under a key derived from the UID key. The others are wrapped under the passcode's key; without a
/// passcode, under another key derived from the UID key. The passcode's key is scrypt of the passcode, then
/// HMAC-SHA-256 under a key derived from the UID key. So a guess needs both the UID key and one run of scrypt. HMAC
/// runs once, not iterated as in Apple's hardware: there the iteration is the slow part that only the chip can do; here
/// the UID key is a file, and scrypt, which costs memory as well as time, is the slow part.
public struct Keybag: Equatable, Sendable {
    /// The version of the format. The authentication code covers it.
    let version: UInt32
    /// 16 random bytes for the life of the keybag: the salt of every key derived from the UID key.
    public let identifier: [UInt8]
    /// Derived from the UID key, which it does not reveal. Tells another device's keybag from a damaged one.
    let deviceMark: [UInt8]
    let passcode: PasscodeParameters
    let keys: WrappedClassKeys
    /// HMAC-SHA-256 over all of the above, under a key derived from the UID key.
    private(set) var authenticationCode: [UInt8]

    public var hasPasscode: Bool { passcode.isSet }
    public var cost: PasscodeCost { passcode.cost }

    /// Whether this keybag says that the device's records carry authentication codes. One of the first version does
    /// not: it was written before they did.
    public var demandsRecordCodes: Bool { version >= Keybag.firstVersionWithRecordCodes }

    // MARK: Creating and opening

    /// New class keys, and a ring that has all of them.
    /// - Parameter cost: of a guess of the passcode; nil measures it for this machine.
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
        let root = KeyRoot(uidKey: uidKey, identifier: random.bytes(identifierLength))
        let keys = ProtectedKeys(complete: random.secret(), unlessOpen: random.secret(), untilFirst: random.secret())
        let none = random.secret()
        let parameters = PasscodeParameters(isSet: passcode != nil, cost: cost, salt: random.bytes(saltLength))
        let keybag = Keybag(
            root, passcode: passcode, parameters, keys: keys,
            wrappedNone: KeyWrap(under: root.key(for: .classD)).wrap(none))
        let ring = KeyRing()
        ring.setPublicKey(keybag.keys.unlessOpenPublic)
        ring.insert(ClassKey(none), for: .none)
        keys.insert(into: ring)
        return (keybag, ring)
    }

    /// A ring as after a boot: it has class D, class B for new files, and all classes if there is no passcode.
    /// - Throws: ``KeybagFault/otherDevice``, ``KeybagFault/damaged``.
    public func openWithoutPasscode(uidKey: UIDKey) throws(KeybagFault) -> KeyRing {
        try authenticate(uidKey: uidKey)
        guard let key = KeyWrap(under: root(uidKey).key(for: .classD)).unwrap(keys.none) else {
            throw .damaged
        }
        let ring = KeyRing()
        ring.setPublicKey(keys.unlessOpenPublic)
        ring.insert(ClassKey(key), for: .none)
        if !hasPasscode { try protectedKeys(passcode: nil, uidKey: uidKey).insert(into: ring) }
        return ring
    }

    /// Adds classes A, B and C to the ring. Takes as long as the cost demands.
    /// - Throws: ``KeybagFault/wrongPasscode(mark:)``, ``KeybagFault/otherDevice``, ``KeybagFault/damaged``; the ring
    ///   is then unchanged.
    public func unlock(passcode: [UInt8], uidKey: UIDKey, into ring: KeyRing) throws(KeybagFault) {
        try protectedKeys(passcode: passcode, uidKey: uidKey).insert(into: ring)
    }

    /// Adds classes A, B and C to the ring, if there is no passcode.
    /// - Throws: as ``unlock(passcode:uidKey:into:)``.
    public func unlockWithoutPasscode(uidKey: UIDKey, into ring: KeyRing) throws(KeybagFault) {
        try protectedKeys(passcode: nil, uidKey: uidKey).insert(into: ring)
    }

    // MARK: Changing the passcode

    /// The same class keys under another passcode, or under none. No file is touched.
    /// - Parameters:
    ///   - old: the present passcode; nil if there is none.
    ///   - cost: of a guess of the new one; nil measures it for this machine.
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
        let protected = try protectedKeys(passcode: old, uidKey: uidKey)
        let parameters = PasscodeParameters(
            isSet: new != nil, cost: cost, salt: random.bytes(Keybag.saltLength))
        return Keybag(root(uidKey), passcode: new, parameters, keys: protected, wrappedNone: keys.none)
    }

    /// Checks that this is the device's own keybag, unchanged.
    /// - Throws: ``KeybagFault/otherDevice``, ``KeybagFault/damaged``.
    public func authenticate(uidKey: UIDKey) throws(KeybagFault) {
        let root = root(uidKey)
        guard deviceMark == root.deviceMark else { throw .otherDevice }
        guard Derivation.areEqual(authenticationCode(under: root), authenticationCode) else { throw .damaged }
    }

    /// Checks that a guess of the passcode costs at least as much as the device was made to demand.
    /// - Parameter level: the cost that was chosen; nil for a measured one.
    /// - Throws: ``KeybagFault/damaged``.
    public func requireCost(level: Int?) throws(KeybagFault) {
        guard hasPasscode, cost.isCheaper(than: level) else { return }
        throw .damaged
    }

    /// The same keys, passcode and cost in the present version of the format. Needs no passcode.
    /// - Throws: ``KeybagFault/otherDevice``, ``KeybagFault/damaged``.
    public func upgraded(uidKey: UIDKey) throws(KeybagFault) -> Keybag {
        try authenticate(uidKey: uidKey)
        return inVersion(Keybag.currentVersion, uidKey: uidKey)
    }

    /// For tests, the keybag as another version of the format has it.
    func inVersion(_ version: UInt32, uidKey: UIDKey) -> Keybag {
        var other = Keybag(
            version: version, identifier: identifier, deviceMark: deviceMark, passcode: passcode, keys: keys,
            authenticationCode: [])
        other.authenticationCode = other.authenticationCode(under: root(uidKey))
        return other
    }
}

extension Keybag {
    private init(
        _ root: KeyRoot, passcode: [UInt8]?, _ parameters: PasscodeParameters, keys: borrowing ProtectedKeys,
        wrappedNone: [UInt8]
    ) {
        let wrap = KeyWrap(under: root.wrappingKey(passcode, parameters))
        self.init(
            version: Keybag.currentVersion, identifier: root.identifier, deviceMark: root.deviceMark,
            passcode: parameters,
            keys: WrappedClassKeys(
                complete: wrap.wrap(keys.complete), unlessOpenPublic: Agreement.Pair(keys.unlessOpen).publicKey,
                unlessOpen: wrap.wrap(keys.unlessOpen), untilFirst: wrap.wrap(keys.untilFirst), none: wrappedNone),
            authenticationCode: [])
        authenticationCode = authenticationCode(under: root)
    }

    private func authenticationCode(under root: KeyRoot) -> [UInt8] {
        Derivation.authenticationCode(root.key(for: .authentication), over: authenticatedBytes())
    }

    private func root(_ uidKey: UIDKey) -> KeyRoot { KeyRoot(uidKey: uidKey, identifier: identifier) }

    private func protectedKeys(passcode: [UInt8]?, uidKey: UIDKey) throws(KeybagFault) -> ProtectedKeys {
        // First, so that a failure below can only mean the passcode.
        try authenticate(uidKey: uidKey)
        guard hasPasscode == (passcode != nil) else { throw .wrongPasscode(mark: []) }
        let wrappingKey = root(uidKey).wrappingKey(passcode, self.passcode)
        let mark = Derivation.authenticationCode(wrappingKey, over: Array(KeyRoot.wrongPasscode.utf8))
        let wrap = KeyWrap(under: wrappingKey)
        guard let complete = wrap.unwrap(keys.complete), let unlessOpen = wrap.unwrap(keys.unlessOpen),
            let untilFirst = wrap.unwrap(keys.untilFirst)
        else { throw .wrongPasscode(mark: Array(mark.prefix(Keybag.deviceMarkLength))) }
        return ProtectedKeys(complete: complete, unlessOpen: unlessOpen, untilFirst: untilFirst)
    }
}

/// The passcode's part of a keybag.
struct PasscodeParameters: Equatable, Sendable {
    /// Whether there is a passcode.
    let isSet: Bool
    let cost: PasscodeCost
    /// The salt of scrypt, new with every passcode.
    let salt: [UInt8]
}

/// The class keys as the keybag stores them, each wrapped by AES key wrap (RFC 3394).
struct WrappedClassKeys: Equatable, Sendable {
    let complete: [UInt8]
    /// The public key of class B, in the clear.
    let unlessOpenPublic: [UInt8]
    let unlessOpen: [UInt8]
    let untilFirst: [UInt8]
    let none: [UInt8]
}

/// The source of all keys that are derived from the UID key for one keybag.
private struct KeyRoot {
    let uidKey: UIDKey
    /// The keybag's.
    let identifier: [UInt8]

    /// The purpose of a derived key: the label of HKDF, and part of the format.
    enum Purpose: String {
        case authentication = "appcontainer keybag 1: authentication"
        case deviceMark = "appcontainer keybag 1: device mark"
        case classD = "appcontainer keybag 1: class D"
        case withoutPasscode = "appcontainer keybag 1: without passcode"
        case passcode = "appcontainer keybag 1: passcode"
    }

    /// The label of the mark of a wrong passcode.
    static let wrongPasscode = "appcontainer keybag 1: wrong passcode"

    func key(for purpose: Purpose) -> SecretCell {
        Derivation.hkdf(uidKey.secret, salt: identifier, label: Array(purpose.rawValue.utf8))
    }

    var deviceMark: [UInt8] {
        let mark = Derivation.authenticationCode(key(for: .deviceMark), over: identifier)
        return Array(mark.prefix(Keybag.deviceMarkLength))
    }

    /// The key over classes A, B and C. Takes as long as the passcode's cost demands.
    func wrappingKey(_ passcode: [UInt8]?, _ parameters: PasscodeParameters) -> SecretCell {
        guard let passcode else { return key(for: .withoutPasscode) }
        let stretched = Derivation.scrypt(passcode, salt: parameters.salt, cost: parameters.cost)
        return Derivation.tangle(stretched, with: key(for: .passcode))
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
