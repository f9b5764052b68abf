// The request for one purge, and its result.

public import BackingStore
public import SandboxModel

/// One purge that is to be carried out.
public struct PurgeOrder: Sendable {
    /// How much is to go.
    public enum Extent: Sendable {
        /// Until so many bytes are available.
        case available(Int64)
        /// Every purgeable entry.
        case everything
        /// Every entry that was not used for so many nanoseconds.
        case unused(for: Int64)
    }

    /// The levels that a person can ask for, as a phone has them under pressure.
    public enum Level: Sendable {
        /// Up to the high-water mark.
        case warning
        /// Everything.
        case critical

        /// - Parameter space: the device's, whose high-water mark applies.
        public func extent(of space: SpaceLedger) -> Extent {
            switch self {
            case .warning: .available(space.highWater)
            case .critical: .everything
            }
        }
    }

    public var extent: Extent
    /// The only app whose entries may go; nil for every app.
    public var app: ContainerIdentifier?
    /// Whether nothing goes, and the outcome only says what would.
    public var isDryRun = false
    /// Whether the outcome also names the entries that stay.
    public var isReported = true
    /// Whether it is the daily work on `tmp`, and not a purge: `Library/Caches` stays.
    public var isCleaning = false

    public init(_ extent: Extent, app: ContainerIdentifier? = nil, isDryRun: Bool = false, isReported: Bool = true) {
        self.extent = extent
        self.app = app
        self.isDryRun = isDryRun
        self.isReported = isReported
    }

    /// The order for the entries of `tmp` that were not used for so many nanoseconds.
    public static func cleaning(unusedFor age: Int64) -> PurgeOrder {
        var order = PurgeOrder(.unused(for: age))
        order.isCleaning = true
        return order
    }

    /// Bytes that are to be available at the end; nil for an extent that names no number.
    public var target: Int64? {
        if case .available(let bytes) = extent { bytes } else { nil }
    }
}

/// The result of a purge.
public struct PurgeOutcome: Sendable {
    /// An entry that went.
    public struct Purged: Sendable {
        public let unit: PurgeUnit
        public let reason: PurgeReason
        /// Bytes that came free; in a dry run, bytes that would.
        public let bytes: Int64
    }

    /// An entry that stays.
    public struct Skipped: Sendable {
        public let unit: PurgeUnit
        public let reason: PurgeRefusal
    }

    /// A thing that a device did because it disobeys.
    public struct Disobeyed: Sendable {
        public let deed: Caprice.Deed
        public let app: ContainerIdentifier
        /// Relative to the app's home.
        public let path: String
    }

    /// In the order in which the entries went.
    public internal(set) var purged: [Purged] = []
    /// The least recently used first.
    public internal(set) var skipped: [Skipped] = []
    /// Whether the order asked for more than may go.
    public internal(set) var isExhausted = false
    /// Bytes available at the end; in a dry run, bytes that would be.
    public internal(set) var available: Int64 = 0

    public var freed: Int64 { purged.reduce(0) { $0 + $1.bytes } }

    /// The outcome of two purges, of which the second looked at what the first had left.
    func followed(by second: PurgeOutcome) -> PurgeOutcome {
        var both = second
        both.purged = purged + second.purged
        return both
    }
}
