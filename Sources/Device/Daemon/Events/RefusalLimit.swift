// The limit on recorded refusals: some of each process and rule, and a count of the others.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// A token bucket for each process and rule: a burst of refusals at once, then a steady rate.
///
/// A call that is left out costs two look-ups in tables of bounded size, and neither memory nor a system call.
/// Lock: its own, for moments only; while it is held nothing is read, written or waited for.
final class RefusalLimit: Sendable {
    /// Refusals of a process by a rule that were left out, and are not in the record yet.
    struct Omission: Equatable, Sendable {
        /// nil for callers that cannot be seen.
        let process: pid_t?
        /// The name of the process when a refusal of it was recorded last.
        let name: String?
        let rule: Rule
        let count: Int
    }

    enum Answer: Equatable, Sendable {
        /// Record the refusal, with the number of those before it that were left out.
        case record(omitted: Int)
        /// Count the refusal only.
        /// - Parameter isFirst: the caller has to call ``takeOmissions(quietSince:)`` soon.
        case leaveOut(isFirst: Bool)
        /// This process itself has called: neither recorded nor counted.
        case own
    }

    /// The default is enough for tests and scripts: 1,000 at once, then 100 a second.
    struct Rate: Sendable {
        var burst: UInt64 = 1000
        var perSecond: UInt64 = 100
        /// The largest number of buckets.
        var pairs = 1024
    }

    private struct Pair: Hashable {
        let process: pid_t
        let rule: Rule
    }

    private struct Bucket {
        /// When the bucket will be full again, in nanoseconds. Each recorded refusal adds one interval.
        var full: UInt64
        var omitted = 0
        /// When something was left out last, in nanoseconds of the same clock; 0 for never.
        var lastOmitted: UInt64 = 0
        /// The name of the process, once a refusal of it was recorded.
        var name: String?
    }

    private struct State {
        var buckets: [Pair: Bucket] = [:]
        var threads = ThreadOwners()
        /// Omissions of buckets that were dropped.
        var evicted: [Omission] = []
        /// Something was left out since the last call of ``takeOmissions(quietSince:)``, and the first caller knows.
        var hasOmissions = false
    }

    private let rate: Rate
    /// Nanoseconds between two recorded refusals at the steady rate.
    private let interval: UInt64
    private let own: pid_t
    private let identify: @Sendable (pid_t) -> pid_t
    private let state = Mutex(State())

    /// - Parameters:
    ///   - own: this process.
    ///   - identify: returns the process of a thread that waits for its answer.
    init(
        rate: Rate = Rate(), own: pid_t = getpid(),
        identify: @escaping @Sendable (pid_t) -> pid_t = { HostProcess.identifier(ofThread: $0) }
    ) {
        self.rate = rate
        self.own = own
        self.identify = identify
        interval = 1_000_000_000 / rate.perSecond
    }

    /// Decides whether one refusal is recorded.
    /// - Parameters:
    ///   - thread: of the process that called; 0 for one that cannot be seen.
    ///   - now: in nanoseconds, of a clock that only goes forward.
    func admit(_ rule: Rule, thread: pid_t, now: UInt64) -> Answer {
        let known = state.withLock { state -> Answer? in
            state.threads.process(of: thread, at: now).map {
                self.admit(Pair(process: $0, rule: rule), now, &state)
            }
        }
        if let known { return known }
        // Without the lock: it reads /proc.
        let process = identify(thread)
        return state.withLock { state in
            state.threads.remember(process, of: thread, at: now)
            return admit(Pair(process: process, rule: rule), now, &state)
        }
    }

    /// Keeps the name of the process for a later summary.
    func recordName(_ name: String?, of process: pid_t?, rule: Rule) {
        state.withLock { $0.buckets[Pair(process: process ?? 0, rule: rule)]?.name = name }
    }

    /// Takes the omissions for the record.
    /// - Parameter quietSince: nanoseconds; pairs with an omission after this time are left for later. Nil takes all.
    /// - Returns: the omissions, and whether some are left for later.
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

    /// Decides on a refusal of a known process.
    private func admit(_ pair: Pair, _ now: UInt64, _ state: inout State) -> Answer {
        if pair.process == own { return .own }
        guard let index = state.buckets.index(forKey: pair) else {
            if state.buckets.count >= rate.pairs { makeSpace(now, &state) }
            state.buckets[pair] = Bucket(full: now + interval)
            return .record(omitted: 0)
        }
        let next = max(state.buckets.values[index].full, now) + interval
        // The bucket has space: it will be full again within the time of a burst.
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

    /// Drops the buckets that are full and count nothing, as a new one is; where there is none, the one that was quiet
    /// for the longest time.
    private func makeSpace(_ now: UInt64, _ state: inout State) {
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
