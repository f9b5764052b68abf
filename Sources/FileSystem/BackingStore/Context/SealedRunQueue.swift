// The sealed writes of one file, from the threads that sealed them to the one that holds the file's lock.

import Synchronization

/// The runs of one file that wait for the holder of its lock. Lock: a leaf. No object of its own: each open file has
/// one.
///
/// While a holder writes what waits, a write of the kernel's writeback need not: its pages are clean as soon as it is
/// answered, as they are when the host has them, and no call can look at the file before the holder is done.
struct SealedRunQueue: ~Copyable {
    /// The state of the file while one thread holds its lock and writes for others.
    struct Terms {
        /// ``FileKey/serial``.
        let key: UInt64
        /// Below it are no holes; bytes of content.
        let length: Int64
    }

    // Not private: the compiler (6.3.1) breaks off at a build without optimization.
    struct State {
        var runs: [SealedRun] = []
        var terms: Terms?
    }

    private let state = Mutex(State())

    /// The most runs that wait and are acknowledged: beyond them writers wait, so that memory is bounded.
    private static let mostAcknowledged = 8

    /// - Returns: whether the run is acknowledged: it is the holder's from now on. Otherwise the caller waits for the
    ///   lock.
    func add(_ run: SealedRun) -> Bool {
        run.isDone.store(false, ordering: .relaxed)
        return state.withLock { state in
            if let terms = state.terms, run.write.isFromCache, run.write.key == terms.key,
                run.write.range.upperBound <= terms.length, state.runs.count < SealedRunQueue.mostAcknowledged
            {
                run.write.isAcknowledged = true
            }
            state.runs.append(run)
            return run.write.isAcknowledged
        }
    }

    /// Begins to acknowledge runs. The caller holds the file's lock exclusively, and calls ``take(_:isLast:)`` until
    /// that finds none.
    /// - Parameter terms: nil to end that early.
    func acknowledge(_ terms: Terms?) {
        state.withLock { $0.terms = terms }
    }

    /// Exchanges the runs that wait, in the order in which they came, for an empty array with room for the next.
    /// - Parameter isLast: whether no more runs are to be acknowledged.
    /// - Returns: false if there are none; none is acknowledged then.
    func take(_ runs: inout [SealedRun], isLast: Bool) -> Bool {
        state.withLock { state in
            if isLast || state.runs.isEmpty { state.terms = nil }
            swap(&state.runs, &runs)
            return !runs.isEmpty
        }
    }
}
