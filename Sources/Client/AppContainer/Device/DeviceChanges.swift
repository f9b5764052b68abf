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
        private var lines: FollowedLines

        init(client: DeviceClient) {
            lines = FollowedLines(ControlPath.followedChanges, of: client)
        }

        /// - Throws: ``DeviceError`` of kind `daemonUnreachable` when the device is off, `cancelled` when the task was
        ///   cancelled.
        public mutating func next() async throws(DeviceError) -> FileChange? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DeviceError) -> FileChange? {
            try await lines.next(isolation: actor) { (line, server) throws(DeviceError) in
                try DeviceClient.decode(FileChange.self, from: line, of: server)
            }
        }
    }
}
