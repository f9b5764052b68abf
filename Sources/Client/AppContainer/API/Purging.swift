// Purging: what is asked, and what is told of it.

/// Purges what may go of the apps that are not running: entries of their `Library/Caches` and `tmp`, whole.
///
/// At most one of `free`, `level` and `olderThan` is given; none means the level `warning`.
public struct PurgeRequest: ControlRequest {
    public typealias Reply = PurgeReport
    public static let path = "purge"

    public enum Level: String, Codable, CaseIterable, Sendable {
        /// Until as much is available as the high-water mark says.
        case warning
        /// All that may go.
        case critical
    }

    /// The app of which alone something may go; every one when null.
    public var app: String?
    /// Bytes that are to be available.
    public var free: Int64?
    public var level: Level?
    /// All that was not used for so many seconds goes, whatever is available.
    public var olderThan: Int64?
    /// Tell what would go, and leave it. False when null.
    public var dryRun: Bool?

    public init(
        app: String? = nil, free: Int64? = nil, level: Level? = nil, olderThan: Int64? = nil, dryRun: Bool = false
    ) {
        self.app = app
        self.free = free
        self.level = level
        self.olderThan = olderThan
        self.dryRun = dryRun
    }
}

/// What a purge took, and what it left.
public struct PurgeReport: Codable, Hashable, Sendable {
    /// An entry of `Library/Caches` or `tmp`.
    public struct Entry: Codable, Hashable, Sendable {
        public var app: String
        /// Relative to the app's home.
        public var path: String
        /// Bytes that came free, or that would.
        public var size: Int64
        /// When a file in it was last opened, created or closed: ISO 8601, in UTC. Null when that is not known.
        public var lastUse: String?
        /// Of what was purged `leastRecentlyUsed`, `purgeable` or `unused`. Of what was left `appRunning`, `fileOpen`,
        /// `targetReached`, `usedRecently`, `empty`, `appBusy`, `changed`, `cancelled` or `failed`. A later version may
        /// know further reasons.
        public var reason: String

        public init(app: String, path: String, size: Int64, lastUse: String?, reason: String) {
            self.app = app
            self.path = path
            self.size = size
            self.lastUse = lastUse
            self.reason = reason
        }
    }

    /// In the order in which it went: the least recently used first.
    public var purged: [Entry]
    public var skipped: [Entry]
    /// Bytes that came free by it, or that would.
    public var freed: Int64
    /// Bytes available after it, or that would be.
    public var available: Int64
    /// Bytes that were to be available; null when it was about something else.
    public var target: Int64?

    /// Whether as much is available as was asked for.
    public var isEnough: Bool { target.map { available >= $0 } ?? true }

    public init(purged: [Entry], skipped: [Entry], freed: Int64, available: Int64, target: Int64?) {
        self.purged = purged
        self.skipped = skipped
        self.freed = freed
        self.available = available
        self.target = target
    }

    private enum CodingKeys: CodingKey {
        case purged, skipped, freed, available, target
    }

    /// Writes null where there was no target, so that a script finds the key in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(purged, forKey: .purged)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(freed, forKey: .freed)
        try container.encode(available, forKey: .available)
        try container.encode(target, forKey: .target)
    }
}

extension DeviceClient {
    /// Purges what may go of the apps that are not running.
    ///
    /// That it was not enough is no error: see ``PurgeReport/isEnough``.
    public func purge(_ request: PurgeRequest = PurgeRequest()) async throws(DeviceError) -> PurgeReport {
        try await send(request)
    }
}
