// What is in a device's record already when something begins that is to be told apart from it.

import AppContainer

struct EarlierEvents: Sendable {
    private let events: [Event]

    init(_ events: [Event]) {
        self.events = events
    }

    /// Whether the next refusal may be one that the record leaves out: of each process and rule it takes 1,000 at once.
    var mayBeFlooded: Bool { events.count >= 1000 }

    /// What of a later record came afterwards. Its oldest events may be gone by then, however many these were.
    func later(in record: [Event]) -> [Event] {
        for first in events.indices where record.starts(with: events[first...]) {
            return Array(record.dropFirst(events.count - first))
        }
        return record
    }
}
