// The available capacity by usage (`volumeAvailableCapacityForImportantUsage` and its like).

/// The importance of the data that an app wants to store.
public enum SpaceUsage: CaseIterable, Sendable {
    /// Data that the user asked for, or that the app needs. Purgeable data counts as available.
    case important
    /// Data that the app only expects to need. Nothing is purged for it.
    case opportunistic

    /// The extended attribute of a home that has the capacity, in decimal bytes.
    public var attributeName: String {
        switch self {
        case .important: "user.appcontainer.capacity.important"
        case .opportunistic: "user.appcontainer.capacity.opportunistic"
        }
    }
}
