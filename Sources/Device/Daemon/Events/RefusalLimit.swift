// How many refusals are recorded of one process by one rule, and how many were left out.
// Lock: its own, for moments only; while it is held nothing is read, written or waited for.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// A token bucket for each process and rule: so many refusals at once, then so many a second.
///
/// A call that is left out costs two look-ups in tables of bounded size, and neither memory nor a system call.
final class RefusalLimit: Sendable {
    /// Refusals of a process by a rule that were left out and not told yet.
    struct Omission: Equatable, Sendable {
        /// nil for callers that cannot be seen.
        let process: pid_t?
        /// What the process called itself when a refusal of it was recorded last.
        let name: String?
        let rule: Rule
        let count: Int
    }

    enum Answer: Equatable, Sendable {
        /// It is to be recorded, and to say how many before it were left out.
        case record(omitted: Int)
        /// - Parameter isFirst: whoever asked has to see to it that omissions are taken soon.
        case leaveOut(isFirst: Bool)
        /// This process itself has called, which is nobody's attempt.
        case own
    }

    /// Enough for what a test or a script means to do: 1,000 at once, then 100 a second.
    struct Rate: Sendable {
        var burst: UInt64 = 1000
        var perSecond: UInt64 = 100
        /// How many pairs of a process and a rule are told apart.
        var pairs = 1024
    }

    private struct Pair: Hashable {
        let process: pid_t
        let rule: Rule
    }

    private struct Bucket {
        /// When it will be full again, in nanoseconds: each refusal that is recorded moves that by one interval.
        var full: UInt64
        var omitted = 0
        var lastOmitted: UInt64 = 0
        var name: String?
    }

    private struct State {
        var buckets: [Pair: Bucket] = [:]
        /// Which process a thread belongs to, and until when that is believed.
        var threads: [pid_t: (process: pid_t, until: UInt64)] = [:]
        /// Of buckets that had to make room.
        var evicted: [Omission] = []
        /// Something was left out, and whoever asked for it first knows that it has to be told.
        var hasOmissions = false
    }

    /// Numbers of threads are given out in a circle, and nobody makes as many within this time.
    private static let belief: UInt64 = 1_000_000_000
    private static let largestThreads = 4096

    private let rate: Rate
    private let interval: UInt64
    private let own: pid_t
    private let identify: @Sendable (pid_t) -> pid_t
    private let state = Mutex(State())

    /// - Parameter identify: tells the process of a thread that is waiting for its answer.
    init(
        rate: Rate = Rate(), own: pid_t = getpid(),
        identify: @escaping @Sendable (pid_t) -> pid_t = { HostProcess.identifier(ofThread: $0) }
    ) {
        self.rate = rate
        self.own = own
        self.identify = identify
        interval = 1_000_000_000 / rate.perSecond
    }

    /// Asks for the recording of one refusal.
    /// - Parameters:
    ///   - thread: of the process that called; 0 for one that cannot be seen.
    ///   - now: in nanoseconds, of a clock that only goes forward.
    func admit(_ rule: Rule, thread: pid_t, now: UInt64) -> Answer {
        let known = state.withLock { state -> Answer? in
            self.known(thread, now, state).map { self.admit(Pair(process: $0, rule: rule), now, &state) }
        }
        if let known { return known }
        let process = identify(thread)
        return state.withLock { state in
            remember(thread, of: process, now, &state)
            return admit(Pair(process: process, rule: rule), now, &state)
        }
    }

    /// Keeps the name under which a summary tells of the process.
    func recordName(_ name: String?, of process: pid_t?, rule: Rule) {
        state.withLock { $0.buckets[Pair(process: process ?? 0, rule: rule)]?.name = name }
    }

    /// What was left out and is not told yet.
    /// - Parameter quietSince: leaves to their next refusal those of whom one was left out after this; nil for none.
    /// - Returns: what is to be told now, and whether this is to be called again soon.
    func takeOmissions(quietSince: UInt64?) -> (omissions: [Omission], isMore: Bool) {
        state.withLock { state in
            var omissions = state.evicted
            state.evicted = []
            var isMore = false
            for (pair, bucket) in state.buckets where bucket.omitted > 0 {
                if let quietSince, bucket.lastOmitted > quietSince {
                    isMore = true
                } else {
                    omissions.append(RefusalLimit.omission(of: pair, bucket))
                    state.buckets[pair]!.omitted = 0
                }
            }
            state.hasOmissions = isMore
            return (omissions, isMore)
        }
    }

    // MARK: With the lock held

    private func known(_ thread: pid_t, _ now: UInt64, _ state: State) -> pid_t? {
        if thread == 0 { return 0 }
        guard let known = state.threads[thread], now < known.until else { return nil }
        return known.process
    }

    private func remember(_ thread: pid_t, of process: pid_t, _ now: UInt64, _ state: inout State) {
        if state.threads.count >= RefusalLimit.largestThreads {
            state.threads = state.threads.filter { now < $0.value.until }
            if state.threads.count >= RefusalLimit.largestThreads { state.threads.removeAll(keepingCapacity: true) }
        }
        state.threads[thread] = (process, now + RefusalLimit.belief)
    }

    private func admit(_ pair: Pair, _ now: UInt64, _ state: inout State) -> Answer {
        if pair.process == own { return .own }
        guard let index = state.buckets.index(forKey: pair) else {
            if state.buckets.count >= rate.pairs { makeRoom(now, &state) }
            state.buckets[pair] = Bucket(full: now + interval)
            return .record(omitted: 0)
        }
        let next = max(state.buckets.values[index].full, now) + interval
        if next <= now + rate.burst * interval {
            defer { state.buckets.values[index].omitted = 0 }
            state.buckets.values[index].full = next
            return .record(omitted: state.buckets.values[index].omitted)
        }
        state.buckets.values[index].omitted += 1
        state.buckets.values[index].lastOmitted = now
        defer { state.hasOmissions = true }
        return .leaveOut(isFirst: !state.hasOmissions)
    }

    /// Forgets who has nothing to tell and a full bucket, as one that is new has; else who has made no refusals for the
    /// longest.
    private func makeRoom(_ now: UInt64, _ state: inout State) {
        state.buckets = state.buckets.filter { $0.value.full > now || $0.value.omitted > 0 }
        guard state.buckets.count >= rate.pairs,
            let (pair, bucket) = state.buckets.min(by: { $0.value.full < $1.value.full })
        else { return }
        state.buckets[pair] = nil
        if bucket.omitted > 0 { state.evicted.append(RefusalLimit.omission(of: pair, bucket)) }
    }

    private static func omission(of pair: Pair, _ bucket: Bucket) -> Omission {
        Omission(
            process: pair.process == 0 ? nil : pair.process, name: bucket.name, rule: pair.rule, count: bucket.omitted)
    }
}
