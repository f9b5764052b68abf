// Connections whose requests are still arriving: how many there may be, and for how long.

/// Limits for clients that have not said yet what they want.
public struct ConnectionLimits: Sendable {
    /// From the connection to the last byte of the request.
    public var time = Duration.seconds(30)
    /// Connections whose requests are incomplete. Few enough to leave descriptors for the files of apps.
    public var connections = 256
    /// Bytes of request line and headers.
    public var head = 16 * 1024
    /// Bytes of body.
    public var body: Int

    public init(body: Int) {
        self.body = body
    }
}

/// Connections whose requests are incomplete, in the order in which they came. The oldest gives way to the newest: a
/// client that wants something has sent its request long before.
struct PendingRequests<Connection> {
    private let limit: Int
    private var next: UInt64 = 0
    private var waiting: [UInt64: Connection] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: a number for ``remove(_:)``, and the connection that has to give way, if there are too many.
    mutating func add(_ connection: Connection) -> (number: UInt64, oldest: Connection?) {
        defer { next += 1 }
        waiting[next] = connection
        return (next, waiting.count > limit ? removeOldest() : nil)
    }

    mutating func remove(_ number: UInt64) {
        waiting[number] = nil
    }

    mutating func removeOldest() -> Connection? {
        waiting.keys.min().flatMap { waiting.removeValue(forKey: $0) }
    }
}
