// The class keys of a device under its backup password: what a backup of a locked device carries, so that another
// device can open its ciphertext.

public import SandboxModel

/// Reasons why a keybag under a backup password cannot be read or opened.
public enum PasswordKeybagFault: Error, Hashable, Sendable {
    /// Cut, or bytes were changed.
    case damaged
    /// Written by a later version of the format.
    case newerVersion(UInt32)
    /// A guess of the password would take more memory than ``PasswordKeybag/mostWork`` allows.
    case excessiveCost
    /// The password is another one; or authenticated bytes were changed by somebody who made the checksum anew. The two
    /// look the same.
    case wrongPassword
    /// The host does not give the memory that a guess takes.
    case noMemory
}

/// The class keys A, B and C, and the key of proofs, each wrapped under a key that scrypt makes of the backup password.
///
/// Neither the UID key nor anything that depends on it is needed to open it: the password is all that protects the
/// keys.
/// The key of class D is left out, because content of class D is never closed.
public struct PasswordKeybag: Equatable, Sendable {
    /// The identifier of the device's keybag. Sealed content of a backup names it.
    public let identifier: [UInt8]
    let cost: PasscodeCost
    /// The salt of scrypt, new with every password.
    let salt: [UInt8]
    let keys: Wrapped
    /// HMAC-SHA-256 over all of the above, under a key that the password gives.
    private(set) var authenticationCode: [UInt8]

    /// The keys as the keybag stores them, each wrapped by AES key wrap (RFC 3394).
    struct Wrapped: Equatable, Sendable {
        let complete: [UInt8]
        let unlessOpen: [UInt8]
        let untilFirst: [UInt8]
        /// The key of ``SealedFileKey``.
        let proofs: [UInt8]
    }

    /// The most that scrypt may have to do, in blocks of 128 bytes: 256 MiB. A keybag comes from a backup, which is
    /// untrusted.
    static let mostWork: UInt64 = 1 << 21
    /// The level of ``PasscodeCost`` that does as much.
    static let highestLevel = 18

    // MARK: Making

    /// Reasons why no keybag can be made.
    public enum MakingFault: Error, Hashable, Sendable {
        /// The ring lacks the key of a class.
        case unavailable(ProtectionClass)
        /// The host does not give the memory that scrypt takes.
        case noMemory
    }

    /// The keys of a ring under a new password.
    /// - Parameters:
    ///   - level: of the cost of a guess, at most 18 of which count; nil measures it for this machine.
    ///   - identifier: of the device's keybag.
    /// - Throws: ``MakingFault``: the ring has to have the keys of classes A, B and C.
    public static func create(
        password: [UInt8], of ring: KeyRing, proofs: SealedFileKey, identifier: [UInt8], level: Int?
    ) throws(MakingFault) -> PasswordKeybag {
        func held(_ protection: ProtectionClass) throws(MakingFault) -> ClassKey {
            guard let key = ring.classKey(protection) else { throw .unavailable(protection) }
            return key
        }
        let (complete, unlessOpen) = (try held(.complete), try held(.completeUnlessOpen))
        let untilFirst = try held(.completeUntilFirstUserAuthentication)
        var random = RandomStream()
        let (cost, salt) = (newCost(level: level), random.bytes(saltLength))
        guard let stretched = Derivation.scryptIfPossible(password, salt: salt, cost: cost) else { throw .noMemory }
        let wrap = KeyWrap(under: PasswordKeybag.key(for: .classKeys, stretched, identifier))
        var keybag = PasswordKeybag(
            identifier: identifier, cost: cost, salt: salt,
            keys: Wrapped(
                complete: wrap.wrap(complete.secret), unlessOpen: wrap.wrap(unlessOpen.secret),
                untilFirst: wrap.wrap(untilFirst.secret), proofs: wrap.wrap(proofs.secret)),
            authenticationCode: [])
        keybag.authenticationCode = keybag.code(stretched)
        return keybag
    }

    /// The same keys under another password.
    /// - Throws: as ``open(password:)``.
    public func changingPassword(
        from old: [UInt8], to new: [UInt8], level: Int?
    ) throws(PasswordKeybagFault) -> PasswordKeybag {
        let opened = try open(password: old)
        do throws(MakingFault) {
            return try PasswordKeybag.create(
                password: new, of: opened.ring, proofs: opened.proofs, identifier: identifier, level: level)
        } catch {
            switch error {
            case .noMemory: throw .noMemory
            // An opened keybag has every key that a new one needs.
            case .unavailable: throw .damaged
            }
        }
    }

    private static func newCost(level: Int?) -> PasscodeCost {
        guard let level else { return .measured() }
        return PasscodeCost(level: min(level, highestLevel))!
    }

    // MARK: Opening

    /// Unwraps the keys. Takes as long as the cost demands, also for a wrong password.
    /// - Throws: ``PasswordKeybagFault/wrongPassword``, ``PasswordKeybagFault/noMemory``, or
    ///   ``PasswordKeybagFault/damaged`` for keys that nobody has wrapped so.
    public func open(password: [UInt8]) throws(PasswordKeybagFault) -> PasswordKeys {
        guard let stretched = Derivation.scryptIfPossible(password, salt: salt, cost: cost) else { throw .noMemory }
        guard Derivation.areEqual(code(stretched), authenticationCode) else { throw .wrongPassword }
        let wrap = KeyWrap(under: PasswordKeybag.key(for: .classKeys, stretched, identifier))
        guard let complete = wrap.unwrap(keys.complete), let unlessOpen = wrap.unwrap(keys.unlessOpen),
            let untilFirst = wrap.unwrap(keys.untilFirst), let proofs = wrap.unwrap(keys.proofs)
        else { throw .damaged }
        let ring = KeyRing()
        ring.setPublicKey(Agreement.Pair(unlessOpen).publicKey)
        ring.insert(ClassKey(complete), for: .complete)
        ring.insert(ClassKey(unlessOpen), for: .completeUnlessOpen)
        ring.insert(ClassKey(untilFirst), for: .completeUntilFirstUserAuthentication)
        return PasswordKeys(ring: ring, proofs: SealedFileKey(proofs))
    }

    // MARK: Keys of the password

    private enum Purpose: String {
        case classKeys = "appcontainer backup 1: class keys"
        case authentication = "appcontainer backup 1: keybag"
    }

    private static func key(
        for purpose: Purpose, _ stretched: borrowing SecretCell, _ identifier: [UInt8]
    ) -> SecretCell {
        Derivation.hkdf(stretched, salt: identifier, label: Array(purpose.rawValue.utf8))
    }

    private func code(_ stretched: borrowing SecretCell) -> [UInt8] {
        let key = PasswordKeybag.key(for: .authentication, stretched, identifier)
        return Derivation.authenticationCode(key, over: authenticatedBytes())
    }
}

/// The opened keys of a keybag under a backup password.
public struct PasswordKeys: Sendable {
    /// Has the keys of classes A, B and C.
    public let ring: KeyRing
    /// The key of the proofs of sealed content.
    public let proofs: SealedFileKey
}
