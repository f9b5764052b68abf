// Why an operation did not happen. One enumeration, so that the mapping to an errno is one exhaustive switch.

/// The error number a system call of the host gave, wherever a fault passes it on as it is.
public struct SystemError: Error, Hashable, Sendable {
    public let code: Int32

    public init(code: Int32) {
        self.code = code
    }
}

/// The rule of the sandbox that refused an operation. The raw value appears in events.
public enum Rule: String, CaseIterable, Sendable {
    /// The bundle is signed: nothing writes to it.
    case sealedBundle
    /// Nothing is created, renamed or removed at the top level.
    case topLevel
    /// The system's own directories are neither removed nor renamed.
    case standardDirectory
    /// The container's metadata belongs to the system.
    case metadata
    /// What was delivered can be read, removed and moved out; nothing else.
    case inbox
    /// `Documents/Inbox` appears with the first delivered file; the app cannot make one.
    case inboxName
    /// Device nodes cannot be made.
    case deviceNode
    /// Symbolic links, fifos and sockets carry no extended attributes.
    case attributeHolder
    /// The attribute is computed; it can be read but not set.
    case computedAttribute
    /// The bundle, `Library/Caches`, `tmp` and `iCloud` are never in a backup, and cannot be taken into one.
    case neverInBackup
    /// The `CACHEDIR.TAG` that a mount shows is its own, and so is the name.
    case cacheTag
    /// The file's protection class does not allow its content to be reached in the device's present state.
    case dataProtection
}

/// Why an operation of the filesystem failed.
public enum Fault: Error, Hashable, Sendable {
    /// A rule of the sandbox: EPERM.
    case refused(Rule)
    /// Stored bytes that do not authenticate: EIO.
    case corrupt
    /// An errno, from POSIX's own rules or from the host's answer.
    case system(SystemError)
}
