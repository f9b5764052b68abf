// The space of a device, in the terms in which iOS reports it to apps.

/// The space of a device in bytes.
///
/// The last two are the values that `URLResourceValues` has as `volumeAvailableCapacityForImportantUsage` and
/// `volumeAvailableCapacityForOpportunisticUsage`.
public struct SpaceStatus: Hashable, Sendable {
    /// The device's own capacity, or that of the host's filesystem where it has none.
    public var capacity: Int64
    /// The space of the apps' containers.
    public var used: Int64
    public var available: Int64
    /// The space that a purge of everything purgeable would free.
    public var purgeable: Int64
    /// Space for files that the user asked for: available and purgeable.
    public var availableForImportantUsage: Int64
    /// Space for files that an app only expects to need: so much that nothing is purged for them.
    public var availableForOpportunisticUsage: Int64

    public init(
        capacity: Int64, used: Int64, available: Int64, purgeable: Int64, availableForImportantUsage: Int64,
        availableForOpportunisticUsage: Int64
    ) {
        self.capacity = capacity
        self.used = used
        self.available = available
        self.purgeable = purgeable
        self.availableForImportantUsage = availableForImportantUsage
        self.availableForOpportunisticUsage = availableForOpportunisticUsage
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case capacity, used, available, purgeable, availableForImportantUsage, availableForOpportunisticUsage

        var value: KeyPath<SpaceStatus, Int64> {
            switch self {
            case .capacity: \.capacity
            case .used: \.used
            case .available: \.available
            case .purgeable: \.purgeable
            case .availableForImportantUsage: \.availableForImportantUsage
            case .availableForOpportunisticUsage: \.availableForOpportunisticUsage
            }
        }
    }

    /// Decodes the figures from among the keys of a status.
    /// - Returns: nil where the status has no figures.
    init?(ofStatus decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decodeIfPresent(Int64.self, forKey: .capacity) != nil else { return nil }
        self.init(
            capacity: try container.decode(Int64.self, forKey: .capacity),
            used: try container.decode(Int64.self, forKey: .used),
            available: try container.decode(Int64.self, forKey: .available),
            purgeable: try container.decode(Int64.self, forKey: .purgeable),
            availableForImportantUsage: try container.decode(Int64.self, forKey: .availableForImportantUsage),
            availableForOpportunisticUsage: try container.decode(Int64.self, forKey: .availableForOpportunisticUsage))
    }

    /// Writes the figures among the keys of a status, or null for each.
    static func encode(_ space: SpaceStatus?, ofStatus encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for key in CodingKeys.allCases { try container.encode(space?[keyPath: key.value], forKey: key) }
    }
}
