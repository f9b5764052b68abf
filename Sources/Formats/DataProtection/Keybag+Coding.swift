// The keybag's 344 bytes. Numbers are little-endian.
//
//       0   8  "ACKEYBAG"
//       8   4  version, 2; 1 until the device's records carry authentication codes
//      12   4  flags: 1, there is a passcode
//      16  16  identifier
//      32  16  device mark
//      48  32  salt of scrypt
//      80   4  log2 N of scrypt
//      84   4  r of scrypt
//      88   4  p of scrypt
//      92   4  zero
//      96  40  class A, wrapped
//     136  32  class B, public key
//     168  40  class B, private key, wrapped
//     208  40  class C, wrapped
//     248  40  class D, wrapped
//     288  32  HMAC-SHA-256 over 0..<288
//     320  24  SHA-256 over all bytes before, cut to 24 bytes. In every version at the end, so that changed bytes are
//              told apart from a newer version and from another device's keybag

import HashFunctions

extension Keybag {
    static let identifierLength = 16
    static let deviceMarkLength = 16
    static let saltLength = 32
    public static let encodedLength = 344

    private static let magic = Array("ACKEYBAG".utf8)
    static let currentVersion: UInt32 = 2
    static let firstVersionWithRecordCodes: UInt32 = 2
    private static let versions: ClosedRange<UInt32> = 1...currentVersion
    private static let passcodeFlag: UInt32 = 1
    private static let codeOffset = 288
    private static let checksumLength = 24

    public func encoded() -> [UInt8] {
        let bytes = authenticatedBytes() + authenticationCode
        return bytes + Keybag.checksum(bytes[...])
    }

    /// Reads a keybag. Opening it checks that it is this device's own.
    /// - Throws: ``KeybagFault/truncated``, ``KeybagFault/damaged``, ``KeybagFault/newerVersion(_:)``.
    public init(decoding bytes: [UInt8]) throws(KeybagFault) {
        guard bytes.count >= 12 + Keybag.checksumLength else { throw .truncated }
        let isWhole =
            Keybag.checksum(bytes.dropLast(Keybag.checksumLength)) == Array(bytes.suffix(Keybag.checksumLength))
        guard isWhole else {
            throw bytes.count < Keybag.encodedLength ? .truncated : .damaged
        }
        var fields = Fields(bytes[...])
        guard fields.bytes(8) == Keybag.magic else { throw .damaged }
        let version = fields.number()
        guard Keybag.versions.contains(version) else {
            throw version > Keybag.currentVersion ? .newerVersion(version) : .damaged
        }
        guard bytes.count == Keybag.encodedLength else { throw .damaged }
        let flags = fields.number()
        let (identifier, deviceMark) = (fields.bytes(Keybag.identifierLength), fields.bytes(Keybag.deviceMarkLength))
        let salt = fields.bytes(Keybag.saltLength)
        let (level, blockSize, parallelism, zero) = (fields.number(), fields.number(), fields.number(), fields.number())
        guard flags & ~Keybag.passcodeFlag == 0, zero == 0,
            let cost = PasscodeCost(level: Int(level), blockSize: blockSize, parallelism: parallelism)
        else { throw .damaged }
        let complete = fields.bytes(KeyWrap.wrappedLength)
        let unlessOpenPublic = fields.bytes(Agreement.publicKeyLength)
        let keys = WrappedClassKeys(
            complete: complete, unlessOpenPublic: unlessOpenPublic, unlessOpen: fields.bytes(KeyWrap.wrappedLength),
            untilFirst: fields.bytes(KeyWrap.wrappedLength), none: fields.bytes(KeyWrap.wrappedLength))
        self.init(
            version: version, identifier: identifier, deviceMark: deviceMark,
            passcode: PasscodeParameters(isSet: flags & Keybag.passcodeFlag != 0, cost: cost, salt: salt), keys: keys,
            authenticationCode: fields.bytes(SecretCell.count))
    }

    /// The bytes before the authentication code.
    func authenticatedBytes() -> [UInt8] {
        var bytes = Keybag.magic
        bytes += Keybag.number(version) + Keybag.number(hasPasscode ? Keybag.passcodeFlag : 0)
        bytes += identifier + deviceMark + passcode.salt
        bytes += Keybag.number(UInt32(cost.level)) + Keybag.number(cost.blockSize)
        bytes += Keybag.number(cost.parallelism) + Keybag.number(0)
        bytes += keys.complete + keys.unlessOpenPublic + keys.unlessOpen + keys.untilFirst + keys.none
        precondition(bytes.count == Keybag.codeOffset)
        return bytes
    }

    static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(HashFunction.sha256.digest(of: Array(bytes)).prefix(checksumLength))
    }

    /// The fields of a keybag, one behind the other.
    struct Fields {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func bytes(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }

        mutating func number() -> UInt32 {
            bytes(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
