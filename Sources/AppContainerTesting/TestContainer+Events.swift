// The events of one test.

import AppContainer
import Foundation

extension TestContainer {
    /// The record of events, one JSON object a line, for a report; nil when the device does not answer any more.
    func eventLines() async -> String? {
        guard let events = try? await device.recordedEvents() else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return events.compactMap { try? String(decoding: encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    /// Runs a body, and tells what happened on the device meanwhile. A refused call is in the record before it returns.
    func events<Result>(
        isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
    ) async throws -> (result: Swift.Result<Result, any Error>, events: [Event]) {
        let before = try await device.recordedEvents().count
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        return (result, Array(try await device.recordedEvents().dropFirst(before)))
    }
}
