// The directories of a data or group container whose content the system may remove.

/// A directory of a data or group container whose entries are purged when space is low. The directory itself stays.
public enum PurgeableDirectory: CaseIterable, Hashable, Sendable {
    /// `Library/Caches`.
    case caches
    /// `tmp`.
    case temporary

    /// Those of a group container: its `tmp`, if it has one, is its apps'.
    public static let ofGroup: [PurgeableDirectory] = [.caches]

    /// From the container; for a data container equally from the app's home.
    public var path: [FileName] {
        switch self {
        case .caches: PurgeableDirectory.cachesPath
        case .temporary: PurgeableDirectory.temporaryPath
        }
    }

    private static let cachesPath = [HomeLayout.library, HomeLayout.caches]
    private static let temporaryPath = [HomeLayout.temporary]
}
