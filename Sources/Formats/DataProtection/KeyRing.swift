// The class keys that are at hand in the device's present state.
// Lock: `keys` is innermost but for the arena of secret memory; no call under it waits for anything.

public import SandboxModel
import Synchronization

/// Makes, wraps and unwraps the keys of files. Any thread may use it; the device's state puts keys in and takes
/// them out.
///
/// Class B can be wrapped for as soon as its public half is known, in every state; unwrapping needs the private half.
public final class KeyRing: Sendable {
    private let keys = Mutex(ClassKeys())

    /// One bit for each class whose files can be opened: what the paths of reading and writing look at.
    private let available = Atomic<UInt8>(0)

    /// An empty ring: no class can be opened and none wrapped for.
    public init() {}

    /// Whether existing content of the class can be opened now. One atomic load.
    public func isAvailable(_ protection: ProtectionClass) -> Bool {
        available.load(ordering: .acquiring) & KeyRing.bit(protection) != 0
    }

    /// A new random key, and the form in which the file's header stores it.
    /// - Throws: ``KeyFault/unavailable(_:)``.
    public func makeFileKey(_ protection: ProtectionClass) throws(KeyFault) -> (FileKey, WrappedFileKey) {
        let key = FileKey(SecretCell.random())
        return (key, try wrap(key, as: protection))
    }

    /// Wraps a key that is at hand for a class, its own or a new one.
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

    /// - Throws: ``KeyFault/unavailable(_:)``, or ``KeyFault/damaged`` when the blob is not what was once wrapped.
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

    /// Takes the keys of these classes out; their memory is zeroed before this returns, unless a call of another
    /// thread is using one, which then zeroes it. Class B keeps its public half.
    public func forget(_ classes: some Sequence<ProtectionClass>) {
        for protection in classes {
            keys.withLock { $0[protection] = nil }
            available.bitwiseAnd(~KeyRing.bit(protection), ordering: .acquiringAndReleasing)
        }
    }

    /// Puts a class key in, for class B the private half.
    func insert(_ key: ClassKey, for protection: ProtectionClass) {
        keys.withLock { $0[protection] = key }
        available.bitwiseOr(KeyRing.bit(protection), ordering: .acquiringAndReleasing)
    }

    /// Makes class B known by its public half: files can be made in it from now on.
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
        // Taken out of the ring for the time of the agreement, so that its tens of microseconds hold nobody up.
        let (own, classPublic) = keys.withLock { ($0[.completeUnlessOpen], $0.unlessOpenPublic) }
        guard let own, let classPublic else { throw .unavailable(.completeUnlessOpen) }
        let ephemeralPublic = Array(blob.prefix(Agreement.publicKeyLength))
        guard let shared = Agreement.Pair(own.secret).sharedSecret(with: ephemeralPublic) else { throw .damaged }
        let wrap = Agreement.wrappingKey(shared: shared, ephemeral: ephemeralPublic, classPublic: classPublic)
        guard let secret = wrap.unwrap(blob.dropFirst(Agreement.publicKeyLength)) else { throw .damaged }
        return FileKey(secret)
    }
}

/// A class key and its ready schedules. `wrap` is used under the ring's lock only.
final class ClassKey: Sendable {
    let secret: SecretCell
    let wrap: KeyWrap

    init(_ secret: consuming SecretCell) {
        wrap = KeyWrap(under: secret)
        self.secret = secret
    }
}

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
