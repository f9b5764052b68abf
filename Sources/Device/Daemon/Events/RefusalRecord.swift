// Refused calls on their way into the event record: limited in number, and none uncounted.

import AppContainer
import ContainerMount
import Dispatch
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Records refused calls as ``RefusalLimit`` allows. The next event of a process and rule has the number of those
/// before it that were left out; where none comes within a second, an event of its own has it.
final class RefusalRecord: Sendable {
    private let events: EventLog
    private let limit: RefusalLimit
    /// The thread that records omissions, so that no request does.
    private let queue = DispatchQueue(label: "appcontainer.refusals")

    /// Nanoseconds without a further omission of a pair, after which its number is recorded by itself.
    private static let quiet: UInt64 = 1_000_000_000

    init(events: EventLog, limit: RefusalLimit = RefusalLimit()) {
        self.events = events
        self.limit = limit
    }

    /// Decides whether a refusal is recorded. Called on the thread of its request.
    /// - Returns: the number of those before it that were left out; nil when this one is left out.
    func admits(_ rule: Rule, thread: pid_t) -> Int? {
        switch limit.admit(rule, thread: thread, now: MonotonicClock.nanoseconds) {
        case .record(let omitted): return omitted
        case .own: return nil
        case .leaveOut(let isFirst):
            if isFirst { reportOmissionsLater() }
            return nil
        }
    }

    /// Records a refusal that was admitted.
    func record(_ call: RefusedCall) {
        limit.recordName(call.process?.name, of: call.process?.id, rule: call.rule)
        events.record(Event(call))
    }

    /// Records omissions after a second, and again until none is left.
    private func reportOmissionsLater() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(RefusalRecord.quiet))) { [self] in
            // The process may go on being refused: its next recorded refusal has the count then.
            let now = MonotonicClock.nanoseconds
            if report(quietSince: now > RefusalRecord.quiet ? now - RefusalRecord.quiet : 0) { reportOmissionsLater() }
        }
    }

    /// Records all omissions at once: for a reader of the record, and at the end.
    func reportOmissions() {
        queue.sync { _ = report(quietSince: nil) }
    }

    /// - Returns: whether omissions are left for later.
    private func report(quietSince: UInt64?) -> Bool {
        let (omissions, isMore) = limit.takeOmissions(quietSince: quietSince)
        for omission in omissions { events.record(Event(omission)) }
        return isMore
    }
}
