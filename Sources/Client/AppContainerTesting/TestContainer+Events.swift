// The events of one test.

import AppContainer
import Foundation

extension TestContainer {
    /// The events since the test began, without those of its preparation.
    func ownEvents() async throws(DeviceError) -> [Event] {
        earlier.later(in: try await device.recordedEvents())
    }

    /// The events of the test as JSON lines; nil if there are none, or if the device no longer answers.
    func eventLines() async -> String? {
        guard let events = try? await ownEvents(), !events.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return events.compactMap { try? String(decoding: encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    /// Runs a body and returns the events that came meanwhile. A refused call is recorded before it returns.
    func events<Result>(
        isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
    ) async throws -> (result: Swift.Result<Result, any Error>, events: [Event]) {
        let before = EarlierEvents(try await device.recordedEvents())
        // After a burst the record takes 100 refusals a second.
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
