// The keybag of an encrypted Finder backup, in Apple's format.

/// Reasons why a backup's keybag cannot be read or opened.
public enum BackupKeybagFault: Error, Hashable, Sendable {
    case damaged
    /// The counts of iterations are beyond ``BackupIterations``' limits.
    case excessiveIterations
    case wrongPassword
}

/// The class keys of a backup, each wrapped under a key that is derived from the backup's password.
public struct BackupKeybag: Equatable, Sendable {
    /// The bytes in `Manifest.plist`.
    public let encoded: [UInt8]

    let derivation: BackupKeyDerivation
    /// The wrapped keys by class: only those under the password.
    let wrapped: [UInt32: [UInt8]]

    /// The four of NSFileProtection, and those of the keychain. A phone's backup has all of them.
    private static let classes: ClosedRange<UInt32> = 1...11
    private static let version: UInt32 = 3
    /// `TYPE` of a backup.
    private static let backupType: UInt32 = 1
    /// The bit of `WRAP` for a key under the password.
    private static let wrappedUnderPassword: UInt32 = 2
    /// The longest keybag that is read, in bytes.
    private static let longest = 1 << 16

    /// New class keys: wrapped in a keybag, and opened.
    public static func create(password: [UInt8], iterations: BackupIterations = .apple) -> (BackupKeybag, BackupKeys) {
        var random = RandomStream()
        let saltLength = BackupKeyDerivation.saltLength
        let derivation = BackupKeyDerivation(
            counts: iterations, outerSalt: random.bytes(saltLength), innerSalt: random.bytes(saltLength))!
        let wrap = KeyWrap(under: Derivation.backupKey(password: password, parameters: derivation))
        let keys = BackupKeys()
        var list = BackupKeybagTags()
        list.add("VERS", version)
        list.add("TYPE", backupType)
        list.add("UUID", random.bytes(16))
        // The use of this key is not documented. Readers expect the tag.
        list.add("HMCK", wrap.wrap(random.secret()))
        list.add("WRAP", 0)
        list.add("SALT", derivation.innerSalt)
        list.add("ITER", iterations.inner)
        list.add("DPWT", 0)
        list.add("DPIC", iterations.outer)
        list.add("DPSL", derivation.outerSalt)
        var wrapped: [UInt32: [UInt8]] = [:]
        for number in classes.reversed() {
            let key = random.secret()
            let blob = wrap.wrap(key)
            wrapped[number] = blob
            keys.insert(key, for: number)
            list.add("UUID", random.bytes(16))
            list.add("CLAS", number)
            list.add("WRAP", wrappedUnderPassword)
            list.add("KTYP", 0)
            list.add("WPKY", blob)
        }
        return (BackupKeybag(encoded: list.bytes, derivation: derivation, wrapped: wrapped), keys)
    }

    /// A keybag for a backup in the clear: new class keys under a random password that nobody knows, at the lowest
    /// cost.
    public static var unused: BackupKeybag {
        var random = RandomStream()
        return create(password: random.bytes(32), iterations: BackupIterations(outer: 1, inner: 1)!).0
    }

    private init(encoded: [UInt8], derivation: BackupKeyDerivation, wrapped: [UInt32: [UInt8]]) {
        self.encoded = encoded
        self.derivation = derivation
        self.wrapped = wrapped
    }

    /// Reads an untrusted keybag.
    /// - Throws: ``BackupKeybagFault/damaged``, ``BackupKeybagFault/excessiveIterations``.
    public init(decoding bytes: [UInt8]) throws(BackupKeybagFault) {
        guard bytes.count <= BackupKeybag.longest, let list = BackupKeybagTags(decoding: bytes) else { throw .damaged }
        // The tags before the second UUID describe the keybag. Each further UUID begins a class.
        var blocks: [[String: [UInt8]]] = [[:]]
        for (tag, value) in list.tags {
            if tag == "UUID", blocks[blocks.count - 1]["UUID"] != nil { blocks.append([:]) }
            guard blocks[blocks.count - 1].updateValue(value, forKey: tag) == nil else { throw .damaged }
        }
        let head = blocks.removeFirst()
        guard let outer = BackupKeybagTags.number(head["DPIC"]), let inner = BackupKeybagTags.number(head["ITER"])
        else { throw .damaged }
        guard let counts = BackupIterations(outer: outer, inner: inner) else { throw .excessiveIterations }
        guard
            let derivation = BackupKeyDerivation(
                counts: counts, outerSalt: head["DPSL"] ?? [], innerSalt: head["SALT"] ?? [])
        else { throw .damaged }
        var wrapped: [UInt32: [UInt8]] = [:]
        for block in blocks {
            guard let number = BackupKeybagTags.number(block["CLAS"]), let wrap = BackupKeybagTags.number(block["WRAP"])
            else {
                throw .damaged
            }
            guard wrap & BackupKeybag.wrappedUnderPassword != 0, let blob = block["WPKY"] else { continue }
            guard blob.count == KeyWrap.wrappedLength, wrapped.updateValue(blob, forKey: number) == nil else {
                throw .damaged
            }
        }
        guard !wrapped.isEmpty else { throw .damaged }
        self.init(encoded: bytes, derivation: derivation, wrapped: wrapped)
    }

    /// Unwraps the class keys. Takes as long as the counts demand.
    /// - Throws: ``BackupKeybagFault/wrongPassword``, also if a wrapped key was changed: the two look the same.
    public func open(password: [UInt8]) throws(BackupKeybagFault) -> BackupKeys {
        let wrap = KeyWrap(under: Derivation.backupKey(password: password, parameters: derivation))
        let keys = BackupKeys()
        for (number, blob) in wrapped {
            guard let key = wrap.unwrap(blob) else { throw .wrongPassword }
            keys.insert(key, for: number)
        }
        return keys
    }
}
