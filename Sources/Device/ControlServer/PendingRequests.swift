// The connections whose requests are incomplete, and the limits on them.

/// Limits on requests that are incomplete.
public struct ConnectionLimits: Sendable {
    /// The time from the connection to the last byte of the request.
    public var time = Duration.seconds(30)
    /// The number of connections with incomplete requests: few enough to leave descriptors for the files of apps.
    public var connections = 256
    /// The same while descriptors are short: few, and more than clients that come at one time and ask at once.
    public var connectionsWhileShort = 8
    /// Bytes of request line and headers.
    public var head = 16 * 1024
    /// Bytes of body.
    public var body: Int

    public init(body: Int) {
        self.body = body
    }
}

/// Connections with incomplete requests, in the order in which they came. The oldest gives way to the newest: an honest
/// client sends its request at once. A value; the event loop owns it.
struct PendingRequests<Connection> {
    private let limit: Int
    private let limitWhileShort: Int
    /// Numbers grow, so that the smallest belongs to the connection that came first.
    private var next: UInt64 = 0
    private var waiting: [UInt64: Connection] = [:]

    /// - Parameter limitWhileShort: the limit while descriptors are short.
    init(limit: Int, limitWhileShort: Int) {
        self.limit = limit
        self.limitWhileShort = min(limit, limitWhileShort)
    }

    /// - Parameter isShort: whether descriptors are short.
    /// - Returns: a number for ``remove(_:)``, and the connections that have to give way, if there are too many.
    mutating func add(_ connection: Connection, isShort: Bool) -> (number: UInt64, oldest: [Connection]) {
        defer { next += 1 }
        waiting[next] = connection
        var oldest: [Connection] = []
        while waiting.count > (isShort ? limitWhileShort : limit), let first = removeOldest() { oldest.append(first) }
        return (next, oldest)
    }

    /// Removes a connection whose request is complete, or that is closed.
    mutating func remove(_ number: UInt64) {
        waiting[number] = nil
    }

    /// Removes the connection that came first.
    mutating func removeOldest() -> Connection? {
        waiting.keys.min().flatMap { waiting.removeValue(forKey: $0) }
    }
}
