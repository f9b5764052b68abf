// The names of the directories that every app's home has.

/// The layout of an app's home. Apple's "File System Programming Guide" lists the directories; `Groups` and `iCloud`
/// are where this project shows the containers that an app shares.
public enum HomeLayout {
    public static let documents: FileName = "Documents"
    /// In `Documents`. Made by the first delivery, and by the system alone.
    public static let inbox: FileName = "Inbox"
    public static let library: FileName = "Library"
    /// In `Library`.
    public static let caches: FileName = "Caches"
    /// In `Library`.
    public static let preferences: FileName = "Preferences"
    public static let temporary: FileName = "tmp"
    public static let groups: FileName = "Groups"
    public static let iCloud: FileName = "iCloud"
    /// In the `.app` directory: the bundles of its app extensions (Apple, Bundle Programming Guide).
    public static let plugIns: FileName = "PlugIns"
    /// The container's own record, which the container manager of iOS names so.
    public static let metadata: FileName = ".com.apple.mobile_container_manager.metadata.plist"
}
