// Which hash functions there are, and the digest of bytes that are at hand.

/// A hash function that a code signature, a seal or a backup uses.
public enum HashFunction: Hashable, Sendable {
    /// For names, and for what others have made: nothing here rests on its strength.
    case sha1
    case sha256
    case sha384

    /// Bytes of a digest.
    public var length: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        }
    }

    /// The digest of bytes that are at hand as a whole.
    public func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = MessageDigest(self)
        digest.update(bytes)
        return digest.finish()
    }
}
