// The zones of an app's home: its parts with rules of their own.

/// The part of a home in which a node lies, by which the policy decides.
public enum Zone: UInt8, CaseIterable, Sendable {
    /// The directory above all homes, which only the daemon sees.
    case device
    /// An app's home: the mount's top level.
    case home
    /// `Notes.app` and everything in it.
    case bundle
    /// `.com.apple.mobile_container_manager.metadata.plist`.
    case metadata
    /// `Groups` and `iCloud`: each holds containers, and the app makes nothing there.
    case containers
    /// A directory of the system that the app cannot remove or rename: `Library`, `Library/Caches`,
    /// `Library/Preferences`, `tmp`, and the root of each group and iCloud container. Inside it the app is free.
    case standardDirectory
    /// `Documents`: a standard directory in which the app cannot name anything `Inbox`.
    case documents
    /// `Documents/Inbox` itself.
    case inbox
    /// A delivered file or directory in the Inbox, at any depth.
    case inboxItem
    /// A `CACHEDIR.TAG` that the mount shows in `Library/Caches` or `tmp`, and that no container has.
    case cacheTag
    /// Everything else: the app's own files and directories.
    case container
}
