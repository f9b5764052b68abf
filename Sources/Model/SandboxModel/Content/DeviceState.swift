// The states of a device between boot and lock.

/// The state of a device with a passcode. A device without one is always ``unlocked``.
public enum DeviceState: String, CaseIterable, Sendable {
    /// Booted, and not unlocked since: only class D can be read.
    case beforeFirstUnlock
    case unlocked
    /// The grace period after `lock`: still unlocked for every rule, until it ends.
    case locking
    case locked

    /// Whether files of this class can be opened in this state.
    public func canOpen(_ protection: ProtectionClass) -> Bool {
        switch (protection, self) {
        case (.none, _): true
        case (.completeUntilFirstUserAuthentication, .beforeFirstUnlock): false
        case (.completeUntilFirstUserAuthentication, _): true
        case (.complete, .unlocked), (.complete, .locking): true
        case (.completeUnlessOpen, .unlocked), (.completeUnlessOpen, .locking): true
        case (.complete, _), (.completeUnlessOpen, _): false
        }
    }

    /// Whether files of this class can be created in this state. Class B needs only a public key for that.
    public func canCreate(_ protection: ProtectionClass) -> Bool {
        protection == .completeUnlessOpen || canOpen(protection)
    }
}
