// The end of processes together with all that they have started.

import Glibc
import Platform

/// Processes and their descendants, each held by a descriptor, so that no signal reaches another process of the same
/// number. A value of one thread, which it may block.
struct ProcessFamilies {
    /// The processes of the leases.
    private let roots: [WatchedProcess]
    /// Those that are the parents of whatever a root has left behind. They end by themselves, when nothing is left.
    private let supervisors: [WatchedProcess]
    /// The roots, and all descendants.
    private var members: [WatchedProcess] = []

    init(of roots: [WatchedProcess], under supervisors: [WatchedProcess] = []) {
        self.roots = roots
        self.supervisors = supervisors
        lookAgain()
    }

    /// Adds the processes that were started meanwhile.
    private mutating func lookAgain() {
        let apart = Set(supervisors.map(\.identifier))
        var known = Set(members.map(\.identifier))
        for member in (roots + supervisors).flatMap(\.family)
        where !apart.contains(member.identifier) && known.insert(member.identifier).inserted {
            members.append(member)
        }
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
            lookAgain()
        }
    }

    /// Kills those that have not ended, and has each supervisor kill whatever else is below it.
    func kill() {
        for supervisor in supervisors {
            supervisor.send(ChildProcess.endAll)
            // A signal to its process group may have stopped it.
            supervisor.send(SIGCONT)
        }
        for member in members where !member.waitForEnd(until: .now) { member.send(SIGKILL) }
    }

    /// Kills the descendants of the roots, then the roots: somebody who waits for a root finds nothing of it left.
    /// - Parameter limit: the time that descendants have to end; the roots are killed then all the same.
    mutating func killFromBelow(within limit: Duration) {
        // Stopped, they start no others.
        for root in roots { root.send(SIGSTOP) }
        lookAgain()
        let ends = Set(roots.map(\.identifier))
        let below = members.filter { !ends.contains($0.identifier) }
        for member in below { member.send(SIGKILL) }
        let deadline = ContinuousClock.now + limit
        for member in below { _ = member.waitForEnd(until: deadline) }
        kill()
    }

    /// Waits for the end of all, as long as time is left.
    func waitForEnd(until deadline: ContinuousClock.Instant) {
        for member in members + supervisors { _ = member.waitForEnd(until: deadline) }
    }
}
