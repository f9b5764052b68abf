// The end of processes together with all that they have started.

import Glibc

/// Processes and their descendants, each held by a descriptor, so that no signal reaches another process of the same
/// number. A value of one thread, which it may block.
struct ProcessFamilies {
    /// The processes of the leases.
    private let roots: [WatchedProcess]
    /// The roots and their descendants.
    private var members: [WatchedProcess]

    init(of roots: [WatchedProcess]) {
        self.roots = roots
        members = roots.flatMap(\.family)
    }

    /// Asks all to end, and waits for that. Descendants that were started meanwhile join the family.
    mutating func terminate(within timeout: Duration) {
        for member in members {
            member.send(SIGTERM)
            // A stopped process gets the signal only when it goes on.
            member.send(SIGCONT)
        }
        let deadline = ContinuousClock.now + timeout
        if !members.allSatisfy({ $0.waitForEnd(until: deadline) }) {
            // Not asked to end: the caller kills them.
            members += roots.flatMap(\.family)
        }
    }

    /// Kills those that have not ended.
    func kill() {
        for member in members where !member.waitForEnd(until: .now) { member.send(SIGKILL) }
    }

    /// Waits for the end of all, as long as time is left.
    func waitForEnd(until deadline: ContinuousClock.Instant) {
        for member in members { _ = member.waitForEnd(until: deadline) }
    }
}
