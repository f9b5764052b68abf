// Telling new events of a record from those that it had before.

import AppContainer

struct EarlierEvents: Sendable {
    private let events: [Event]

    init(_ events: [Event]) {
        self.events = events
    }

    /// Whether the record may leave out the next refusal: it takes bursts of 1,000 for each process and rule.
    var mayBeFlooded: Bool { events.count >= 1000 }

    /// The events of a later record that are new. The oldest ones may be gone from it by then.
    func later(in record: [Event]) -> [Event] {
        for first in events.indices where record.starts(with: events[first...]) {
            return Array(record.dropFirst(events.count - first))
        }
        return record
    }
}
