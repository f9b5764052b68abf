// The key ring: the class keys that the device's present state makes available.

import Platform
public import SandboxModel
import Synchronization

/// Makes, wraps and unwraps the keys of files. Unlocking inserts class keys, locking removes them.
///
/// Class B wraps with its public key alone, so new files can be made in every state. Unwrapping needs the private key.
///
/// Lock: `keys`, innermost but for that of ``SecretArena``. No call under it waits.
public final class KeyRing: Sendable {
    private let keys = ShortLock(ClassKeys())

    /// A bit for each class whose files can be opened. Atomic, for the data path.
    private let available = Atomic<UInt8>(0)

    /// An empty ring.
    public init() {}

    /// Whether existing files of the class can be opened now. One atomic load.
    public func isAvailable(_ protection: ProtectionClass) -> Bool {
        available.load(ordering: .acquiring) & KeyRing.bit(protection) != 0
    }

    /// A new random key, and its wrapped form for the file's header.
    /// - Throws: ``KeyFault/unavailable(_:)``.
    public func makeFileKey(_ protection: ProtectionClass) throws(KeyFault) -> (FileKey, WrappedFileKey) {
        let key = FileKey(SecretCell.random())
        return (key, try wrap(key, as: protection))
    }

    /// Wraps a key for a class.
    /// - Throws: ``KeyFault/unavailable(_:)``.
    public func wrap(_ key: FileKey, as protection: ProtectionClass) throws(KeyFault) -> WrappedFileKey {
        let blob: [UInt8]
        if protection == .completeUnlessOpen {
            guard let classPublic = keys.withLock({ $0.unlessOpenPublic }) else {
                throw .unavailable(protection)
            }
            blob = try KeyRing.seal(key, for: classPublic)
        } else {
            let wrapped = keys.withLock { $0[protection]?.wrap.wrap(key.secret) }
            guard let wrapped else { throw .unavailable(protection) }
            blob = wrapped
        }
        return WrappedFileKey(protection: protection, blob: blob)
    }

    /// - Throws: ``KeyFault/unavailable(_:)``, or ``KeyFault/damaged`` if the blob was changed.
    public func unwrap(_ wrapped: WrappedFileKey) throws(KeyFault) -> FileKey {
        let protection = wrapped.protection
        guard isAvailable(protection) else { throw .unavailable(protection) }
        guard wrapped.blob.count == WrappedFileKey.blobLength(protection) else { throw .damaged }
        if protection == .completeUnlessOpen { return try open(wrapped.blob) }
        let outcome = keys.withLock { keys -> Result<FileKey, KeyFault> in
            guard let classKey = keys[protection] else { return .failure(.unavailable(protection)) }
            guard let secret = classKey.wrap.unwrap(wrapped.blob) else { return .failure(.damaged) }
            return .success(FileKey(secret))
        }
        return try outcome.get()
    }

    /// Removes the keys of these classes and zeroes them. A key that another thread uses is zeroed when that call ends.
    /// Class B keeps its public key.
    public func forget(_ classes: some Sequence<ProtectionClass>) {
        for protection in classes {
            keys.withLock { $0[protection] = nil }
            available.bitwiseAnd(~KeyRing.bit(protection), ordering: .acquiringAndReleasing)
        }
        // A key of a later file is not to lie in memory already while the device is locked.
        RandomBatch.shared.discard()
    }

    /// Adds a class key; for class B the private key.
    func insert(_ key: ClassKey, for protection: ProtectionClass) {
        keys.withLock { $0[protection] = key }
        available.bitwiseOr(KeyRing.bit(protection), ordering: .acquiringAndReleasing)
    }

    /// Sets the public key of class B: files can be made in it from now on.
    func setPublicKey(_ publicKey: [UInt8]) {
        keys.withLock { $0.unlessOpenPublic = publicKey }
    }

    func classKey(_ protection: ProtectionClass) -> ClassKey? {
        keys.withLock { $0[protection] }
    }

    private static func bit(_ protection: ProtectionClass) -> UInt8 { 1 << protection.rawValue }

    private static func seal(_ key: FileKey, for classPublic: [UInt8]) throws(KeyFault) -> [UInt8] {
        let ephemeral = Agreement.Pair(SecretCell.random())
        guard let shared = ephemeral.sharedSecret(with: classPublic) else { throw .damaged }
        let wrap = Agreement.wrappingKey(shared: shared, ephemeral: ephemeral.publicKey, classPublic: classPublic)
        return wrap.wrap(key.secret, after: ephemeral.publicKey)
    }

    private func open(_ blob: [UInt8]) throws(KeyFault) -> FileKey {
        // Copied, so that the lock is not held for the tens of microseconds of the agreement.
        let (own, classPublic) = keys.withLock { ($0[.completeUnlessOpen], $0.unlessOpenPublic) }
        guard let own, let classPublic else { throw .unavailable(.completeUnlessOpen) }
        let ephemeralPublic = Array(blob.prefix(Agreement.publicKeyLength))
        guard let shared = Agreement.Pair(own.secret).sharedSecret(with: ephemeralPublic) else { throw .damaged }
        let wrap = Agreement.wrappingKey(shared: shared, ephemeral: ephemeralPublic, classPublic: classPublic)
        guard let secret = wrap.unwrap(blob.dropFirst(Agreement.publicKeyLength)) else { throw .damaged }
        return FileKey(secret)
    }
}

/// A class key and its schedules. `wrap` is used under the ring's lock only.
final class ClassKey: Sendable {
    let secret: SecretCell
    let wrap: KeyWrap

    init(_ secret: consuming SecretCell) {
        wrap = KeyWrap(under: secret)
        self.secret = secret
    }
}

/// The keys in a ring, by class.
private struct ClassKeys {
    private var complete: ClassKey?
    private var unlessOpen: ClassKey?
    private var untilFirst: ClassKey?
    private var none: ClassKey?
    var unlessOpenPublic: [UInt8]?

    subscript(protection: ProtectionClass) -> ClassKey? {
        get {
            switch protection {
            case .complete: complete
            case .completeUnlessOpen: unlessOpen
            case .completeUntilFirstUserAuthentication: untilFirst
            case .none: none
            }
        }
        set {
            switch protection {
            case .complete: complete = newValue
            case .completeUnlessOpen: unlessOpen = newValue
            case .completeUntilFirstUserAuthentication: untilFirst = newValue
            case .none: none = newValue
            }
        }
    }
}
