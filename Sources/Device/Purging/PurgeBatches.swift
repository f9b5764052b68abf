// A plan in batches, which several threads carry out at the same time: removal waits for the host's disk.
// Locks: `results`, `ended` and `turn`, none within another; `goOn` is called under `ended`, and `turn` is held while
// entries are taken from an app.

import BackingStore
import Synchronization

/// The batches of one plan: the state that the threads share, and the result of each batch.
final class PurgeBatches: Sendable {
    /// Entries that leave their apps before any of them is removed.
    typealias Batch = ArraySlice<PurgePlan.Choice>

    /// The entries of a batch that went, and that stay.
    struct Result {
        var purged: [PurgeOutcome.Purged] = []
        var skipped: [PurgeOutcome.Skipped] = []
    }

    // Small, so that neither writers without space nor requests wait long while entries leave.
    private static let largestCount = 16
    /// In bytes of the host.
    private static let largestSize: Int64 = 64 << 20
    static let threadsPerProcessor = 4
    private static let few = 8

    private let batches: [Batch]
    /// nil for a batch that was not carried out.
    private let results: Mutex<[Result?]>
    private let purged: Atomic<Int>
    private let ended = Mutex(false)
    private let goOn: @Sendable (Int) -> Bool
    /// Counts names of files that several entries hold.
    let links = SharedLinkTally()
    private let turn = Mutex(())

    /// - Parameters:
    ///   - chosen: the units in the order in which they go.
    ///   - purged: how many entries earlier plans of this purge have taken.
    ///   - goOn: gets the number of entries that have gone; false ends the purge.
    init(of chosen: [(PurgeUnit, PurgePlan.Choice)], purged: Int, goOn: @escaping @Sendable (Int) -> Bool) {
        let choices = chosen.map(\.1)
        var batches: [Batch] = []
        var (start, bytes) = (0, Int64(0))
        for (index, (unit, _)) in chosen.enumerated() {
            if index - start == PurgeBatches.largestCount || bytes >= PurgeBatches.largestSize {
                batches.append(choices[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += unit.bytes
        }
        if start < choices.count { batches.append(choices[start...]) }
        self.batches = batches
        results = Mutex(Array(repeating: nil, count: batches.count))
        self.purged = Atomic(purged)
        self.goOn = goOn
    }

    var count: Int { batches.count }

    /// Whether there are so few that processors may share in the removal of one directory.
    var areFew: Bool { batches.count < PurgeBatches.few }

    subscript(_ index: Int) -> Batch { batches[index] }

    /// Asks whether the purge is to go on.
    var goesOn: Bool {
        ended.withLock { isEnded in
            if !isEnded { isEnded = !goOn(purged.load(ordering: .relaxed)) }
            return !isEnded
        }
    }

    /// Whether `goOn` has ended the purge.
    var isEnded: Bool { ended.withLock { $0 } }

    /// Lets one thread at a time take entries out of an app: another would find the app busy.
    func withTurn<Value>(_ body: () -> Value) -> Value { turn.withLock { _ in body() } }

    func record(_ result: Result, of index: Int) {
        results.withLock { $0[index] = result }
        purged.add(result.purged.count, ordering: .relaxed)
    }

    /// Adds all results to an outcome, in the order of the batches. A batch that was not carried out was not needed, or
    /// the purge was ended before it.
    func add(to outcome: inout PurgeOutcome, _ units: [PurgeUnit]) {
        let rest: PurgeRefusal = isEnded ? .cancelled : .targetReached
        for (batch, result) in zip(batches, results.withLock { $0 }) {
            outcome.purged += result?.purged ?? []
            outcome.skipped +=
                result?.skipped ?? batch.map { PurgeOutcome.Skipped(unit: units[$0.unit], reason: rest) }
        }
    }
}
