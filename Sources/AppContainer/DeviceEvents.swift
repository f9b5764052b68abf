// The events of a device as they come.

import FoundationEssentials

/// What has happened on a device, the oldest first, as far as the record goes back, and then each event as it comes.
/// Ends when the device has been shut down, after its last event.
///
/// ```swift
/// for try await event in device.events where event.event == .locked { break }
/// ```
///
/// Each iteration begins anew. One that is slower than the events come misses some; the event `missed` says how many.
public struct DeviceEvents: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = DeviceError

    let client: DeviceClient

    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let client: DeviceClient
        private var lines: EventLines?
        private var hasEnded = false

        init(client: DeviceClient) {
            self.client = client
        }

        /// - Throws: ``DeviceError`` of kind `daemonUnreachable` when the device is off, `cancelled` when the task was
        ///   cancelled.
        public mutating func next() async throws(DeviceError) -> Event? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DeviceError) -> Event? {
            try await nextWithLine(isolation: actor)?.event
        }

        /// The next event with the line that it is in the record.
        public mutating func nextWithLine(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(DeviceError) -> (event: Event, line: String)? {
            guard !hasEnded else { return nil }
            do throws(DeviceError) {
                let lines: EventLines
                if let begun = self.lines {
                    lines = begun
                } else {
                    lines = EventLines(try await client.follow())
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
private final class EventLines {
    private var connection: ControlConnection

    init(_ connection: consuming ControlConnection) {
        self.connection = connection
    }

    func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(DeviceError) -> (event: Event, line: String)? {
        guard let line = try await connection.line() else { return nil }
        let event = try DeviceClient.decode(Event.self, from: line, of: connection.server)
        return (event, String(decoding: line, as: UTF8.self))
    }
}
