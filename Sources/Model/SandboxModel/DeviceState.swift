// Where the device stands between boot and lock.

/// The states of a device that has a passcode. One without is always ``unlocked``.
public enum DeviceState: String, CaseIterable, Sendable {
    /// Booted, and no passcode given since: only class D can be read.
    case beforeFirstUnlock
    case unlocked
    /// The grace period after `lock`: still unlocked for every rule, until it ends.
    case locking
    case locked

    /// May content of this class be opened in this state?
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

    /// May a file of this class be made in this state? Class B needs no more than a public key.
    public func canCreate(_ protection: ProtectionClass) -> Bool {
        protection == .completeUnlessOpen || canOpen(protection)
    }
}
