// The key of one file, in the clear and wrapped.

public import SandboxModel
import Synchronization

/// The random 256-bit key of one file, in locked memory. The last reference zeroes it.
public final class FileKey: Sendable {
    /// Unique in this process, and never 0. A cipher knows by it whether it has the key's schedule.
    public let serial: UInt64

    let secret: SecretCell

    private static let serials = Atomic<UInt64>(1)

    init(_ secret: consuming SecretCell) {
        self.secret = secret
        serial = FileKey.serials.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

/// A file's key as its header stores it, wrapped under the class key.
public struct WrappedFileKey: Equatable, Sendable {
    public let protection: ProtectionClass

    /// Classes A, C and D: 40 bytes, the key wrapped by RFC 3394. Class B: 72 bytes, the ephemeral public key (32) and
    /// the key wrapped under the agreed secret (40).
    public let blob: [UInt8]

    /// - Parameter blob: of any length; unwrapping checks it.
    public init(protection: ProtectionClass, blob: [UInt8]) {
        self.protection = protection
        self.blob = blob
    }

    /// Bytes of a wrapped key of the class.
    public static func blobLength(_ protection: ProtectionClass) -> Int {
        protection == .completeUnlessOpen ? Agreement.publicKeyLength + KeyWrap.wrappedLength : KeyWrap.wrappedLength
    }
}

/// Reasons why a key is not available.
public enum KeyFault: Error, Hashable, Sendable {
    /// The class key is not in the ring in the device's present state.
    case unavailable(ProtectionClass)
    /// The wrapped key was changed, or is another device's.
    case damaged
}
