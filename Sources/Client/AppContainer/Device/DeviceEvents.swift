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
    let since: String?

    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, since: since)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let client: DeviceClient
        private var lines: EventLines?
        private var hasEnded = false
        /// How a line begins that is not earlier: each begins with its time. A record can have tens of thousands of lines,
        /// which take a second to decode.
        private let beginning: [UInt8]?

        init(client: DeviceClient, since: String?) {
            self.client = client
            beginning = since.map { Array("{\"time\":\"\($0)".utf8) }
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
                    lines = EventLines(try await client.follow(), after: beginning)
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
    private let beginning: [UInt8]?

    init(_ connection: consuming ControlConnection, after beginning: [UInt8]?) {
        self.connection = connection
        self.beginning = beginning
    }

    func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(DeviceError) -> (event: Event, line: String)? {
        while let line = try await connection.line() {
            if let beginning, line.lexicographicallyPrecedes(beginning) { continue }
            let event = try DeviceClient.decode(Event.self, from: line, of: connection.server)
            return (event, String(decoding: line, as: UTF8.self))
        }
        return nil
    }
}
