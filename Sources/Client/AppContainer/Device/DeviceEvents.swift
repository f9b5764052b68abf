// The sequence of a device's events.

import FoundationEssentials

/// The recorded events of a device, the oldest first, and then each event as it comes. Ends with the last event of a
/// device that is shut down.
///
/// ```swift
/// for try await event in device.events where event.event == .locked { break }
/// ```
///
/// Each iteration begins anew. A slow one misses events; the event `missed` has their number.
public struct DeviceEvents: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = DeviceError

    let client: DeviceClient
    let since: String?

    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, since: since)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private var lines: FollowedLines
        /// The smallest start of a line that is not too early: each line begins with its time. Decoding the tens of
        /// thousands of lines that a record can have would take a second.
        private let beginning: [UInt8]?

        init(client: DeviceClient, since: String?) {
            lines = FollowedLines(ControlPath.followedEvents, of: client)
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

        /// The next event, with its line in the record.
        public mutating func nextWithLine(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(DeviceError) -> (event: Event, line: String)? {
            try await lines.next(isolation: actor) { (line, server) throws(DeviceError) in
                if let beginning, line.lexicographicallyPrecedes(beginning) { return nil }
                let event = try DeviceClient.decode(Event.self, from: line, of: server)
                return (event, String(decoding: line, as: UTF8.self))
            }
        }
    }
}
