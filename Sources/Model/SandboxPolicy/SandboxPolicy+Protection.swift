// Access to content by protection class and the device's state.

public import SandboxModel

extension SandboxPolicy {
    /// May this operation reach the content of a file of this class now?
    ///
    /// Only reading, writing, a change of length and the creation of a file reach content; everything else is
    /// answered in every state.
    ///
    /// - Parameters:
    ///   - protection: the file's class; for ``Operation/create`` the class that the new file gets.
    ///   - opened: whether the call is made on a descriptor that was opened before, while the class allowed it.
    public static func refusal(
        of operation: Operation, protection: ProtectionClass, state: DeviceState, opened: Bool = false
    ) -> Rule? {
        switch operation {
        case .create: state.canCreate(protection) ? nil : .dataProtection
        case .read, .write, .truncate:
            // A descriptor of class B keeps what it has; for class A the lock is at once.
            state.canOpen(protection) || opened && protection == .completeUnlessOpen ? nil : .dataProtection
        default: nil
        }
    }

    /// May a file go from one class to another now? Its key is unwrapped with the old class's key and wrapped with
    /// the new one's, which class B needs only the public half for. Keeping a class needs no key. A directory's class
    /// can change at any time.
    public static func refusalOfClassChange(
        from old: ProtectionClass, to new: ProtectionClass, state: DeviceState
    ) -> Rule? {
        old == new || state.canOpen(old) && state.canCreate(new) ? nil : .dataProtection
    }
}
