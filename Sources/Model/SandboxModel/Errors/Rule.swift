// The rules of the sandbox, by the names that events have for them.

/// A rule of the sandbox, as the reason of a refusal. Events contain the raw value; `Rule+Words.swift` explains it.
public enum Rule: String, CaseIterable, Sendable {
    /// The bundle is signed: nothing writes to it.
    case sealedBundle
    /// Nothing is created, renamed or removed at the top level.
    case topLevel
    /// The system's own directories are neither removed nor renamed.
    case standardDirectory
    /// The container's metadata belongs to the system.
    case metadata
    /// Delivered files can be read, removed and moved out of the Inbox; nothing else.
    case inbox
    /// `Documents/Inbox` appears with the first delivered file; the app cannot make one.
    case inboxName
    /// Device nodes cannot be made.
    case deviceNode
    /// Symbolic links, fifos and sockets carry no extended attributes.
    case attributeHolder
    /// The attribute is computed; it can be read but not set.
    case computedAttribute
    /// Attributes in `com.apple.system.` are the system's.
    case systemAttribute
    /// The bundle, `Library/Caches`, `tmp` and `iCloud` are never in a backup, and cannot be taken into one.
    case neverInBackup
    /// The `CACHEDIR.TAG` that a mount shows belongs to the mount, and so does the name.
    case cacheTag
    /// The file's protection class does not allow access to its content in the device's state.
    case dataProtection
}
