// Purging: what is asked, and what is told of it.

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
