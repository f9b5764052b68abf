// One iteration over the lines of a query that lasts: events, and changes of files.

/// The lines of a response that lasts as long as the device. They are asked for by the first ``next(isolation:_:)``.
/// The connection is closed with the last copy.
struct FollowedLines {
    private let client: DeviceClient
    /// The query, below ``ControlPath/root``.
    private let path: String
    private var connection: Connection?
    private var hasEnded = false

    init(_ path: String, of client: DeviceClient) {
        self.client = client
        self.path = path
    }

    /// The next value of a line. After the last one, and after an error, there is none any more.
    /// - Parameter read: makes it of a line and the name of the server; nil for a line that is passed over.
    mutating func next<Value>(
        isolation actor: isolated (any Actor)?,
        _ read: (_ line: [UInt8], _ server: String?) throws(DeviceError) -> Value?
    ) async throws(DeviceError) -> Value? {
        guard !hasEnded else { return nil }
        do throws(DeviceError) {
            let connection: Connection
            if let begun = self.connection {
                connection = begun
            } else {
                connection = Connection(try await client.follow(path))
                self.connection = connection
            }
            while let (line, server) = try await connection.line() {
                if let value = try read(line, server) { return value }
            }
            end()
            return nil
        } catch {
            end()
            throw error
        }
    }

    private mutating func end() {
        hasEnded = true
        connection = nil
    }
}

/// A connection that copies of an iterator share.
private final class Connection {
    private var connection: ControlConnection

    init(_ connection: consuming ControlConnection) {
        self.connection = connection
    }

    func line(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(DeviceError) -> (line: [UInt8], server: String?)? {
        guard let line = try await connection.line() else { return nil }
        return (line, connection.server)
    }
}
