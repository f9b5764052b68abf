// The processes of a suspended app: how they are stopped all at once, and continued.

import Glibc
import Platform
import SandboxModel

/// A process that runs an app, with its supervisor.
struct RunningProcess: Sendable {
    let process: WatchedProcess
    /// nil for a process that a library has started.
    let supervisor: WatchedProcess?
}

/// Processes with all their descendants, frozen.
///
/// A program that has a control group of its own is frozen by that: at once, whatever it starts meanwhile, and seen by
/// nobody. Others are stopped by signals until no new one comes. Supervisors are never frozen. They are told before, so
/// that none takes this for a stop by a shell's job control, and each kills what is below it should this process end.
final class FrozenFamily: Sendable {
    /// All that are frozen, each by a descriptor.
    let members: [WatchedProcess]
    private let groups: [ControlGroup]
    /// Stopped by a signal; those that were stopped before are not among them.
    private let stopped: [WatchedProcess]
    /// Those that were told.
    private let supervisors: [WatchedProcess]

    /// Whether everything is frozen by control groups, so that no process has got a signal.
    var isByControlGroup: Bool { stopped.isEmpty }

    /// Whether none of them is left.
    var hasEnded: Bool { members.allSatisfy { $0.waitForEnd(until: .now) } }

    private init(_ freeze: Freeze) {
        members = Array(freeze.members.values)
        groups = freeze.groups
        stopped = freeze.stopped
        supervisors = freeze.told
    }

    /// The time within which processes stop, but for those in a call that no signal interrupts.
    static let timeout = Duration.seconds(2)

    /// Freezes processes and all their descendants. Blocks.
    /// - Parameter remains: the supervisors of what earlier processes have left behind.
    /// - Throws: ``Complaint`` of kind `notFrozen`: then all go on.
    static func freeze(
        _ running: [RunningProcess], remains: [WatchedProcess], within timeout: Duration = FrozenFamily.timeout
    ) throws(Complaint) -> FrozenFamily {
        var freeze = Freeze(running, remains)
        let deadline = ContinuousClock.now + timeout
        let late = freeze.run(until: deadline)
        let family = FrozenFamily(freeze)
        guard let late else { return family }
        family.thaw()
        throw Complaint(.notFrozen, "process \(late) could not be frozen within \(timeout.components.seconds) seconds")
    }

    /// Has all go on.
    func thaw() {
        for group in groups { try? group.setFrozen(false) }
        for process in stopped { process.send(SIGCONT) }
        // Last: nothing below them is stopped then.
        for supervisor in supervisors { supervisor.send(ChildProcess.resumed) }
    }

    /// Kills one of them, which is frozen.
    /// - Returns: whether it has ended; false for another user's.
    func kill(_ process: WatchedProcess) -> Bool {
        process.send(SIGKILL) && process.waitForEnd(until: .now + .seconds(1))
    }
}

/// One attempt to freeze.
private struct Freeze {
    private let running: [RunningProcess]
    private let roots: [WatchedProcess]
    /// The supervisors, below which the descendants of the roots are looked for.
    let parents: [WatchedProcess]
    /// The supervisors that know the signals of a suspension: another client's may be of its own making.
    let told: [WatchedProcess]
    /// The roots whose descendants are found only among all processes of the host.
    private let unsupervised: [WatchedProcess]
    /// By identifier.
    private(set) var members: [pid_t: WatchedProcess] = [:]
    private(set) var groups: [ControlGroup] = []
    private(set) var stopped: [WatchedProcess] = []
    /// Those that no group freezes: the stopped, and what was stopped before.
    private var signalled: Set<pid_t> = []

    /// The time between two looks.
    private static let interval: UInt32 = 300

    init(_ running: [RunningProcess], _ remains: [WatchedProcess]) {
        self.running = running
        roots = running.map(\.process)
        parents = running.compactMap(\.supervisor) + remains
        told = parents.filter {
            ProcessState.takes(ChildProcess.suspended, $0.identifier)
                && ProcessState.takes(ChildProcess.resumed, $0.identifier)
        }
        unsupervised = running.filter { $0.supervisor == nil }.map(\.process)
        for root in roots { members[root.identifier] = root }
    }

    /// - Returns: nil when all are frozen, else a process that is not.
    mutating func run(until deadline: ContinuousClock.Instant) -> pid_t? {
        // Before the first stop, which they would tell of.
        for parent in told { parent.send(ChildProcess.suspended) }
        freezeGroups()
        while true {
            // Looked at before the look for new ones: what is stopped starts none.
            let late =
                signalled.first { !ProcessState.standsStill($0) } ?? groups.first { !$0.isFrozen }?.processes.first
            let isComplete = !lookAgain()
            if isComplete, late == nil { return nil }
            if ContinuousClock.now > deadline { return late ?? signalled.max() ?? roots.first?.identifier ?? 0 }
            usleep(Freeze.interval)
        }
    }

    /// Freezes the groups that only the programs are in.
    private mutating func freezeGroups() {
        let own = ControlGroup(of: getpid())
        for each in running {
            guard let group = ControlGroup(of: each.process.identifier), group.isOfOneProgram,
                !groups.contains(group),
                // Not where the app itself has started this process.
                own.map({ HostPath.rest(of: $0.path, in: group.path) == nil }) ?? true,
                // A process that was started in another program's group is in that, with others.
                group.holdsOnly(membersOf: (each.supervisor ?? each.process).identifier),
                (try? group.setFrozen(true)) != nil
            else { continue }
            groups.append(group)
        }
    }

    /// Adds the processes that were started meanwhile, and stops those that no group freezes.
    /// - Returns: whether to look once more, as there were new ones.
    private mutating func lookAgain() -> Bool {
        var found: Set<pid_t> = Set(roots.map(\.identifier))
        for parent in parents { found.formUnion(ProcessFamily.descendants(of: parent.identifier)) }
        let grouped = Set(groups.flatMap(\.processes))
        found.formUnion(grouped)
        for root in unsupervised { found.formUnion(ProcessFamily.members(of: root.identifier)) }
        found.remove(getpid())
        found.subtract(parents.map(\.identifier))
        var isNew = false
        for identifier in found.sorted() where !signalled.contains(identifier) {
            let isGrouped = grouped.contains(identifier) || groups.contains { $0.holds(identifier) }
            if isGrouped, members[identifier] != nil { continue }
            guard let process = members[identifier] ?? WatchedProcess(identifier) else { continue }
            isNew = true
            // The number may have passed to another process before its descriptor was opened.
            guard members[identifier] != nil || isMember(identifier) else { continue }
            members[identifier] = process
            guard !isGrouped else { continue }
            signalled.insert(identifier)
            guard !ProcessState.isStopped(identifier) else { continue }
            if process.send(SIGSTOP) { stopped.append(process) }
        }
        return isNew
    }

    /// Whether a process is one of those to freeze now.
    private func isMember(_ identifier: pid_t) -> Bool {
        groups.contains { $0.holds(identifier) }
            || (parents + unsupervised).contains {
                // The number of one that has ended may be another's.
                ProcessFamily.isMember(identifier, of: $0.identifier) && !$0.waitForEnd(until: .now)
            }
    }
}
