// How much can be stored for which usage, as iOS tells it apart. Asks for what is purgeable: call it with no lock held.

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

extension SpaceLedger {
    /// Bytes that would come free if everything went that may.
    public var purgeable: Int64 { reliever?.purgeable ?? 0 }

    /// Bytes that can be stored for a usage.
    public func available(for usage: SpaceUsage) -> Int64 {
        let figures = self.figures
        switch usage {
        case .important: return min(figures.available + purgeable, figures.total)
        // What goes beyond would come to lie under the mark at which purging begins, and be made room for.
        case .opportunistic: return max(figures.available - highWater, 0)
        }
    }
}
