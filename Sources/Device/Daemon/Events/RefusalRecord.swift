// Refused calls on their way into the record: not more of a process than anybody wants to read, and none uncounted.

import AppContainer
import ContainerMount
import Dispatch
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Records refused calls as ``RefusalLimit`` allows. The next event of a process and rule says how many before it were
/// left out; where none comes within a second, an event of its own says so.
final class RefusalRecord: Sendable {
    private let events: EventLog
    private let limit: RefusalLimit
    /// Flushed from a thread of its own: no request ever writes a summary.
    private let queue = DispatchQueue(label: "appcontainer.refusals")

    /// For how long nothing more of a process and rule is to be left out before that is told by itself.
    private static let quiet: UInt64 = 1_000_000_000

    init(events: EventLog, limit: RefusalLimit = RefusalLimit()) {
        self.events = events
        self.limit = limit
    }

    /// Whether a refusal is to be recorded; on the thread of its request.
    /// - Returns: how many before it were left out; nil when this one is.
    func admits(_ rule: Rule, thread: pid_t) -> Int? {
        switch limit.admit(rule, thread: thread, now: MonotonicClock.nanoseconds) {
        case .record(let omitted): return omitted
        case .own: return nil
        case .leaveOut(let isFirst):
            if isFirst { reportOmissionsLater() }
            return nil
        }
    }

    func record(_ call: RefusedCall) {
        limit.recordName(call.process?.name, of: call.process?.id, rule: call.rule)
        events.record(Event(call))
    }

    private func reportOmissionsLater() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(RefusalRecord.quiet))) { [self] in
            let now = MonotonicClock.nanoseconds
            if report(quietSince: now > RefusalRecord.quiet ? now - RefusalRecord.quiet : 0) { reportOmissionsLater() }
        }
    }

    /// Tells all that is not told yet: no request comes any more, or somebody asks for the record.
    func reportOmissions() {
        queue.sync { _ = report(quietSince: nil) }
    }

    /// - Returns: whether there is more.
    private func report(quietSince: UInt64?) -> Bool {
        let (omissions, isMore) = limit.takeOmissions(quietSince: quietSince)
        for omission in omissions { events.record(Event(omission)) }
        return isMore
    }
}
