// The plan of a purge in pieces, which several threads carry out at the same time: removing waits for the host's disk.

import BackingStore
import SandboxPolicy
import Synchronization

/// The windows of one plan: what the threads share that carry them out, and what came of each.
final class PurgeWindows: Sendable {
    /// Entries that leave their apps before any of them is removed.
    typealias Window = ArraySlice<PurgePlan.Choice>

    /// What came of one window.
    struct Result {
        var purged: [PurgeOutcome.Purged] = []
        var skipped: [PurgeOutcome.Skipped] = []
    }

    /// Whoever waits for room is not to wait for long, nor are requests while entries leave.
    private static let largestCount = 16
    private static let largestBytes: Int64 = 64 << 20
    static let threadsPerProcessor = 4
    private static let few = 8

    private let windows: [Window]
    /// Of each window that was carried out.
    private let results: Mutex<[Result?]>
    private let purged: Atomic<Int>
    private let ended = Mutex(false)
    private let goOn: @Sendable (Int) -> Bool
    let links = SharedLinkTally()
    private let turn = Mutex(())

    /// - Parameters:
    ///   - chosen: the units in the order in which they go.
    ///   - purged: how many have gone already.
    ///   - goOn: told how many have gone; false ends the purge.
    init(of chosen: [(PurgeUnit, PurgePlan.Choice)], purged: Int, goOn: @escaping @Sendable (Int) -> Bool) {
        let choices = chosen.map(\.1)
        var windows: [Window] = []
        var (start, bytes) = (0, Int64(0))
        for (index, (unit, _)) in chosen.enumerated() {
            if index - start == PurgeWindows.largestCount || bytes >= PurgeWindows.largestBytes {
                windows.append(choices[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += unit.bytes
        }
        if start < choices.count { windows.append(choices[start...]) }
        self.windows = windows
        results = Mutex(Array(repeating: nil, count: windows.count))
        self.purged = Atomic(purged)
        self.goOn = goOn
    }

    var count: Int { windows.count }

    /// Whether there are so few that processors may share in the removal of one directory.
    var areFew: Bool { windows.count < PurgeWindows.few }

    subscript(_ index: Int) -> Window { windows[index] }

    /// Asks whether the purge is to go on.
    var goesOn: Bool {
        ended.withLock { isEnded in
            if !isEnded { isEnded = !goOn(purged.load(ordering: .relaxed)) }
            return !isEnded
        }
    }

    /// Whether somebody has ended it.
    var isEnded: Bool { ended.withLock { $0 } }

    /// Lets one thread at a time take entries out of an app: another would find it busy.
    func withdrawing<Withdrawn>(_ body: () -> Withdrawn) -> Withdrawn { turn.withLock { _ in body() } }

    func end(_ index: Int, _ result: Result) {
        results.withLock { $0[index] = result }
        purged.add(result.purged.count, ordering: .relaxed)
    }

    /// Adds what came of all of them, in their order; what was not carried out was not needed, or not wanted any more.
    func tell(_ outcome: inout PurgeOutcome, _ units: [PurgeUnit]) {
        let rest: PurgeRefusal = isEnded ? .cancelled : .targetReached
        for (window, result) in zip(windows, results.withLock { $0 }) {
            outcome.purged += result?.purged ?? []
            outcome.skipped +=
                result?.skipped ?? window.map { PurgeOutcome.Skipped(unit: units[$0.unit], reason: rest) }
        }
    }
}
