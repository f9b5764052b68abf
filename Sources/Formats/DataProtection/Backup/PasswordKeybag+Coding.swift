// The 288 bytes of a keybag under a backup password. Numbers are little-endian.
//
//       0   8  "ACPWDBAG"
//       8   4  version, 1
//      12   4  log2 N of scrypt
//      16   4  r of scrypt
//      20   4  p of scrypt, 1
//      24  16  identifier of the device's keybag
//      40  32  salt of scrypt
//      72  40  class A, wrapped
//     112  40  class B, private key, wrapped
//     152  40  class C, wrapped
//     192  40  key of the proofs of sealed content, wrapped
//     232  32  HMAC-SHA-256 over 0..<232, under a key that the password gives
//     264  24  SHA-256 over all bytes before, cut to 24 bytes: tells changed bytes from a wrong password

extension PasswordKeybag {
    static let saltLength = 32
    public static let encodedLength = 288

    private static let magic = Array("ACPWDBAG".utf8)
    private static let version: UInt32 = 1
    private static let codeOffset = 232
    private static let checksumLength = 24

    public func encoded() -> [UInt8] {
        let bytes = authenticatedBytes() + authenticationCode
        return bytes + Keybag.checksum(bytes[...])
    }

    /// Reads an untrusted keybag. Opening it checks that the password is its own.
    /// - Throws: ``PasswordKeybagFault/damaged``, ``PasswordKeybagFault/newerVersion(_:)``,
    ///   ``PasswordKeybagFault/excessiveCost``.
    public init(decoding bytes: [UInt8]) throws(PasswordKeybagFault) {
        guard bytes.count >= 12 + PasswordKeybag.checksumLength,
            Keybag.checksum(bytes.dropLast(PasswordKeybag.checksumLength))
                == Array(bytes.suffix(PasswordKeybag.checksumLength))
        else { throw .damaged }
        var fields = Keybag.Fields(bytes[...])
        guard fields.bytes(8) == PasswordKeybag.magic else { throw .damaged }
        let version = fields.number()
        guard version <= PasswordKeybag.version else { throw .newerVersion(version) }
        guard version > 0, bytes.count == PasswordKeybag.encodedLength else { throw .damaged }
        let (level, blockSize, parallelism) = (fields.number(), fields.number(), fields.number())
        guard let cost = PasscodeCost(level: Int(level), blockSize: blockSize, parallelism: parallelism),
            parallelism == 1, cost.work <= PasswordKeybag.mostWork
        else { throw .excessiveCost }
        let identifier = fields.bytes(Keybag.identifierLength)
        let salt = fields.bytes(PasswordKeybag.saltLength)
        func wrapped() -> [UInt8] { fields.bytes(KeyWrap.wrappedLength) }
        let keys = Wrapped(complete: wrapped(), unlessOpen: wrapped(), untilFirst: wrapped(), proofs: wrapped())
        self.init(
            identifier: identifier, cost: cost, salt: salt, keys: keys,
            authenticationCode: fields.bytes(SecretCell.count))
    }

    /// The bytes before the authentication code.
    func authenticatedBytes() -> [UInt8] {
        var bytes = PasswordKeybag.magic + Keybag.number(PasswordKeybag.version)
        bytes += Keybag.number(UInt32(cost.level)) + Keybag.number(cost.blockSize) + Keybag.number(cost.parallelism)
        bytes += identifier + salt
        bytes += keys.complete + keys.unlessOpen + keys.untilFirst + keys.proofs
        precondition(bytes.count == PasswordKeybag.codeOffset)
        return bytes
    }
}
