// How much can be stored for which usage, as iOS tells it apart.

/// What an app means to store.
public enum SpaceUsage: CaseIterable, Sendable {
    /// Something that the user asked for, or that the app needs: what is purgeable is purged for it.
    case important
    /// Something that the app only expects to need: nothing is to be purged for it.
    case opportunistic

    /// The attribute of a home that tells it, in decimal bytes.
    public var attributeName: String {
        switch self {
        case .important: "user.appcontainer.capacity.important"
        case .opportunistic: "user.appcontainer.capacity.opportunistic"
        }
    }
}
