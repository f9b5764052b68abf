// The sequence of the places at which a device's files change.

/// The places at which files change, each a few times a second at most, however often it changes. Ends with a
/// device that is shut down. It follows from an iterator's first `next()` on: list what is of interest after that.
///
/// ```swift
/// for try await change in device.changes { print(change.path ?? "anything") }
/// ```
public struct DeviceChanges: AsyncSequence, Sendable {
    public typealias Element = FileChange
    public typealias Failure = DeviceError

    let client: DeviceClient

    public func makeAsyncIterator() -> Iterator { Iterator(client: client) }

    public struct Iterator: AsyncIteratorProtocol {
        private let client: DeviceClient
        private var lines: ChangeLines?
        private var hasEnded = false

        init(client: DeviceClient) {
            self.client = client
        }

        /// - Throws: ``DeviceError`` of kind `daemonUnreachable` when the device is off, `cancelled` when the task was
        ///   cancelled.
        public mutating func next() async throws(DeviceError) -> FileChange? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DeviceError) -> FileChange? {
            guard !hasEnded else { return nil }
            do throws(DeviceError) {
                let lines: ChangeLines
                if let begun = self.lines {
                    lines = begun
                } else {
                    lines = ChangeLines(try await client.follow(ControlPath.followedChanges))
                    self.lines = lines
                }
                if let next = try await lines.next() { return next }
                hasEnded = true
                self.lines = nil
                return nil
            } catch {
                hasEnded = true
                lines = nil
                throw error
            }
        }
    }
}

/// The connection of one iteration. It is closed with the iterator.
private final class ChangeLines {
    private var connection: ControlConnection

    init(_ connection: consuming ControlConnection) {
        self.connection = connection
    }

    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(DeviceError) -> FileChange? {
        guard let line = try await connection.line() else { return nil }
        return try DeviceClient.decode(FileChange.self, from: line, of: connection.server)
    }
}
