// The key of one file's content, in the clear and wrapped.

public import SandboxModel
import Synchronization

/// The random 256-bit key of one file, in locked memory; zeroed when the last reference goes.
public final class FileKey: Sendable {
    /// Never the same for two keys of this process, so that a cipher can tell whose schedule it holds. Never 0.
    public let serial: UInt64

    let secret: SecretCell

    private static let serials = Atomic<UInt64>(1)

    init(_ secret: consuming SecretCell) {
        self.secret = secret
        serial = FileKey.serials.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

/// A file's key as its header stores it: useless without the class key.
public struct WrappedFileKey: Equatable, Sendable {
    public let protection: ProtectionClass

    /// Classes A, C and D: 40 bytes, the key wrapped as in RFC 3394. Class B: 72 bytes, a public key on Curve25519
    /// made for this file alone, and then 40 bytes wrapped under what that key and the class key agree on.
    public let blob: [UInt8]

    /// A blob of another length than its class has is found out when it is unwrapped.
    public init(protection: ProtectionClass, blob: [UInt8]) {
        self.protection = protection
        self.blob = blob
    }

    /// The bytes that a wrapped key of the class takes.
    public static func blobLength(_ protection: ProtectionClass) -> Int {
        protection == .completeUnlessOpen ? Agreement.publicKeyLength + KeyWrap.wrappedLength : KeyWrap.wrappedLength
    }
}

/// Why a key cannot be had.
public enum KeyFault: Error, Hashable, Sendable {
    /// The class key is not at hand in the device's present state.
    case unavailable(ProtectionClass)
    /// The wrapped key does not unwrap: changed bytes, or another device's.
    case damaged
}
