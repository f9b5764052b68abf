// The parts of an app's home that differ in what the sandbox allows there.

/// Where a node lies, as far as the sandbox's rules care.
public enum Zone: UInt8, CaseIterable, Sendable {
    /// The directory above all homes, which only the daemon sees.
    case device
    /// An app's home: the mount's top level.
    case home
    /// `Notes.app` and everything in it.
    case bundle
    /// `.com.apple.mobile_container_manager.metadata.plist`.
    case metadata
    /// `Groups` and `iCloud`: each holds containers, and nothing else is made there.
    case containers
    /// A directory the system made and the app cannot remove or rename: `Library`, `Library/Caches`,
    /// `Library/Preferences`, `tmp`, and the root of each group and iCloud container. Inside it the app is free.
    case standardDirectory
    /// `Documents`: a standard directory in which, besides, nothing can be named `Inbox`.
    case documents
    /// `Documents/Inbox` itself.
    case inbox
    /// What was delivered into the Inbox, at any depth.
    case inboxItem
    /// A `CACHEDIR.TAG` that the mount shows in `Library/Caches` or `tmp`, and that no container has.
    case cacheTag
    /// Everything that the app made.
    case container
}
