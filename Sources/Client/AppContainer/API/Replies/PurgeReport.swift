// The reply to a purge.

/// The entries that a purge removed, and those that it left.
public struct PurgeReport: Codable, Hashable, Sendable {
    /// An entry of `Library/Caches` or `tmp`.
    public struct Entry: Codable, Hashable, Sendable {
        public var app: String
        /// Relative to the app's home.
        public var path: String
        /// Bytes freed, or to be freed by a dry run.
        public var size: Int64
        /// The time when a file in it was last opened, created or closed: ISO 8601, in UTC. Null when unknown.
        public var lastUse: String?
        /// For a purged entry `leastRecentlyUsed`, `purgeable` or `unused`; for one that was left `appRunning`,
        /// `fileOpen`, `targetReached`, `usedRecently`, `empty`, `appBusy`, `changed`, `cancelled` or `failed`. A later
        /// version may have further reasons.
        public var reason: String

        public init(app: String, path: String, size: Int64, lastUse: String?, reason: String) {
            self.app = app
            self.path = path
            self.size = size
            self.lastUse = lastUse
            self.reason = reason
        }
    }

    /// In the order of removal: the least recently used first.
    public var purged: [Entry]
    public var skipped: [Entry]
    /// Bytes freed, or to be freed by a dry run.
    public var freed: Int64
    /// Bytes available afterwards.
    public var available: Int64
    /// Bytes that were to be available; null when the purge had another aim.
    public var target: Int64?

    /// Whether the target was reached.
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
