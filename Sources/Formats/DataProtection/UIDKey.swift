// The UID key: the device's own key.

/// Stands for the key in a phone's processor. Everything in the keybag depends on it, so that the keybag without it
/// opens nothing, whatever the passcode. 32 bytes, in a file of its own.
public final class UIDKey: Sendable {
    let secret: SecretCell

    public static let length = 32

    /// A new random key.
    public init() {
        secret = SecretCell.random()
    }

    /// - Parameter bytes: a key from ``exported()``. The caller wipes its copy.
    /// - Returns: nil unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == UIDKey.length else { return nil }
        secret = SecretCell(copying: bytes)
    }

    /// The key in the clear, for the file that stores it.
    public func exported() -> [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: secret.base, count: SecretCell.count))
    }
}
