// The hash functions of code signatures, seals and backups.

/// A hash function.
public enum HashFunction: Hashable, Sendable {
    /// For file identifiers, and for signatures of other programs. No security of this project depends on it.
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

    /// The digest of bytes in memory.
    public func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = MessageDigest(self)
        digest.update(bytes)
        return digest.finish()
    }
}
