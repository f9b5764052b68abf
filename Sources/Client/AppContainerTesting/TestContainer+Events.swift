// The events of one test.

import AppContainer
import Foundation

extension TestContainer {
    /// What has happened on the device since the test began: not what was done to get it ready for the test.
    func ownEvents() async throws(DeviceError) -> [Event] {
        earlier.later(in: try await device.recordedEvents())
    }

    /// The events of the test, one JSON object a line, for a report; nil when there are none, and when the device
    /// does not answer any more.
    func eventLines() async -> String? {
        guard let events = try? await ownEvents(), !events.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return events.compactMap { try? String(decoding: encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    /// Runs a body, and tells what happened on the device meanwhile. A refused call is in the record before it returns.
    func events<Result>(
        isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
    ) async throws -> (result: Swift.Result<Result, any Error>, events: [Event]) {
        let before = EarlierEvents(try await device.recordedEvents())
        // After a flood the record has room for 100 a second.
        if before.mayBeFlooded { try await Task.sleep(for: .milliseconds(100)) }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        return (result, before.later(in: try await device.recordedEvents()))
    }
}
