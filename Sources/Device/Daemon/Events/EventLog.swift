// The record of a served device's events: written in order, followed, and counted where it cannot be written.

import AppContainer
import BackingStore
import Platform
import SandboxModel
import Synchronization

/// Writes events to the record, and passes them on to its followers. An event is in the record when `record` returns;
/// one that cannot be written, as on a full disk, is dropped, and the next one carries the count.
///
/// Lock: its own, held while lines are written, so that they keep their order in the files and for each follower. Below
/// it only those of the followers.
final class EventLog: Sendable {
    private struct State {
        /// nil when the device directory could not be opened: nothing is recorded then.
        var files: EventFiles?
        /// Events since the last one that was written.
        var dropped = 0
        /// Registered by ``follow(limit:)``; an ended subscription removes its own.
        var followers: [ObjectIdentifier: EventFollower] = [:]
        /// The device's; nil for the host's.
        var clock: DeviceClock?
        /// No event comes any more.
        var isOver = false
    }

    private let state: Mutex<State>
    private let changes: ChangeFeed?

    /// - Parameters:
    ///   - device: the path of the device directory.
    ///   - largest: bytes of each of the two files.
    ///   - changes: learns of the events that tell of changed files.
    init(device: String, largest: Int64 = 4 << 20, changes: ChangeFeed? = nil) {
        self.changes = changes
        state = Mutex(State(files: try? EventFiles(device: device, largest: largest)))
    }

    /// Has the events from now on tell the time of a device's clock, where it is not the host's.
    func use(_ clock: DeviceClock) { state.withLock { $0.clock = clock } }

    /// Records one event. Blocks for the time of a write(2).
    func record(_ event: Event) { record([event]) }

    /// Records events that happened at one time, all of them or none.
    func record(_ events: [Event]) {
        guard !events.isEmpty else { return }
        defer { if let changes { for event in events { changes.record(event) } } }
        var events = events
        if let clock = state.withLock(\.clock), clock.ahead != 0 {
            let time = EventTime.text(clock.now)
            for index in events.indices { events[index].deviceTime = time }
        }
        let first = events[0]
        var lines = events.map { EventRecord.line($0) }
        state.withLock { [events] state in
            guard state.files != nil else { return }
            if state.dropped > 0 {
                var first = first
                first.dropped = state.dropped
                lines[0] = EventRecord.line(first)
            }
            do throws(SystemError) {
                try state.files?.append(Array(lines.joined()))
                state.dropped = 0
                for follower in state.followers.values {
                    for line in lines { follower.append(line) }
                }
            } catch {
                state.dropped += events.reduce(0) { $0 + $1.weight }
            }
        }
    }

    // MARK: Following

    /// Follows the record from its beginning: each line once, however many are written meanwhile.
    /// - Parameter limit: bytes that may wait for the follower.
    /// - Throws: an error of open(2) or fstat(2); `ENOENT` where nothing is recorded.
    func follow(limit: Int = EventFollower.largest) throws(SystemError) -> EventSubscription {
        let follower = try state.withLock { (state) throws(SystemError) in
            guard let files = state.files else { throw .noEntry }
            let history = EventHistory(try files.parts())
            let follower = EventFollower(after: history, limit: limit)
            if state.isOver { follower.end() } else { state.followers[ObjectIdentifier(follower)] = follower }
            return follower
        }
        return EventSubscription(follower) { [weak self] follower in
            self?.state.withLock { _ = $0.followers.removeValue(forKey: ObjectIdentifier(follower)) }
        }
    }

    /// The number of followers.
    var followers: Int { state.withLock { $0.followers.count } }

    /// Ends the record: followers get the lines that wait for them, and then the end. Events are still written after
    /// it.
    func end() {
        let followers = state.withLock { state in
            state.isOver = true
            defer { state.followers = [:] }
            return state.followers
        }
        for follower in followers.values { follower.end() }
    }
}
