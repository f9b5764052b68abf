// Where each app is between the foreground and its suspension.

import AppContainer
import Glibc
import Platform
import SandboxModel

/// The apps that are in the background or suspended, and the background tasks of all apps. An app that is in neither
/// state is in the foreground.
///
/// Lock: its own, for moments only. Processes are frozen and continued without it, within an operation on the app.
final class AppLifecycle: Sendable {
    /// One stay in the background.
    struct Visit: Hashable {
        let number: UInt64
        /// When it ends at the latest, in nanoseconds of ``MonotonicClock``.
        let deadline: UInt64
        /// When background tasks are told that it ends.
        let notice: UInt64
    }

    private enum Phase {
        /// - Parameter hadTasks: whether a task was under way since: then the end of the last one ends it.
        case background(Visit, hadTasks: Bool)
        /// Processes are being frozen, or are; nil at first.
        case suspended(FrozenFamily?)
    }

    private struct State {
        var last: UInt64 = 0
        var phases: [ContainerIdentifier: Phase] = [:]
        var tasks = BackgroundTasks()
        /// The processes whose end ends their tasks.
        var watched: Set<pid_t> = []
    }

    private let state = Monitor(State())

    /// The time before the end of a stay at which tasks are told of it. UIKit's documentation says "shortly before".
    static let notice = Duration.seconds(5)

    // MARK: Looking

    /// The state of an app that runs.
    func appState(of app: ContainerIdentifier) -> App.State {
        state.access { state in
            switch state.phases[app] {
            case nil: .foreground
            case .background?: .background
            case .suspended?: .suspended
            }
        }
    }

    /// The apps that are suspended.
    var suspended: Set<ContainerIdentifier> {
        state.access { state in
            Set(state.phases.keys.filter { if case .suspended? = state.phases[$0] { true } else { false } })
        }
    }

    /// The tasks of an app that have not ended.
    func unendedTasks(of app: ContainerIdentifier) -> [String] { state.access { $0.tasks.names(of: app) } }

    // MARK: Background

    /// Begins a stay in the background.
    /// - Parameter nanoseconds: its length.
    /// - Returns: nil where the app is not in the foreground.
    func enterBackground(_ app: ContainerIdentifier, for nanoseconds: UInt64) -> Visit? {
        state.access { state in
            guard state.phases[app] == nil else { return nil }
            state.last += 1
            let now = MonotonicClock.nanoseconds
            // In a short stay half of the time is left when tasks are told.
            let left = min(nanoseconds / 2, UInt64(AppLifecycle.notice / .nanoseconds(1)))
            let visit = Visit(number: state.last, deadline: now + nanoseconds, notice: now + nanoseconds - left)
            state.phases[app] = .background(visit, hadTasks: !state.tasks.isEmpty(of: app))
            return visit
        }
    }

    /// Blocks until a stay ends: at its deadline, or with the last background task.
    /// - Parameter expiring: called once if there are tasks at the time of notice.
    /// - Returns: false when something else has ended it: the app came to the foreground, or runs no more.
    func awaitEnd(of visit: Visit, _ app: ContainerIdentifier, expiring: () -> Void) -> Bool {
        for limit in [visit.notice, visit.deadline] {
            let isDue = state.wait(until: limit) { state -> Bool? in
                guard case .background(visit, let hadTasks)? = state.phases[app] else { return false }
                return hadTasks && state.tasks.isEmpty(of: app) ? true : nil
            }
            if let isDue { return isDue }
            if limit == visit.notice, visit.deadline > limit, !unendedTasks(of: app).isEmpty { expiring() }
        }
        return true
    }

    // MARK: Suspension

    /// Lets no process of the app begin any more.
    /// - Returns: false unless the stay still lasts.
    func beginSuspension(_ app: ContainerIdentifier, after visit: Visit) -> Bool {
        state.access { state in
            guard case .background(visit, _)? = state.phases[app] else { return false }
            state.phases[app] = .suspended(nil)
            return true
        }
    }

    /// - Returns: false where the app has ended meanwhile.
    func suspend(_ app: ContainerIdentifier, _ family: FrozenFamily) -> Bool {
        state.access { state in
            guard case .suspended? = state.phases[app] else { return false }
            state.phases[app] = .suspended(family)
            return true
        }
    }

    /// Brings an app to the foreground.
    /// - Returns: the state that it was in, and the processes that were frozen.
    func enterForeground(_ app: ContainerIdentifier) -> (App.State, FrozenFamily?) {
        state.access { state in
            switch state.phases.removeValue(forKey: app) {
            case nil: (.foreground, nil)
            case .background?: (.background, nil)
            case .suspended(let family)?: (.suspended, family)
            }
        }
    }

    /// Ends one stay in the background, and nothing else.
    func endStay(_ visit: Visit, _ app: ContainerIdentifier) -> Bool {
        state.access { state in
            guard case .background(visit, _)? = state.phases[app] else { return false }
            state.phases[app] = nil
            return true
        }
    }

    /// Forgets an app that runs no more.
    func forget(_ app: ContainerIdentifier) {
        let (_, family) = enterForeground(app)
        // Nothing of it is left, but perhaps its supervisor is stopped.
        family?.thaw()
    }

    // MARK: Background tasks

    /// Begins a task of a process. It ends with the process at the latest.
    /// - Returns: the task, and the nanoseconds that are left of a stay in the background.
    /// - Throws: ``Complaint`` of kind `badRequest` where there is no such process, or it has too many tasks.
    func beginTask(_ name: String, of app: ContainerIdentifier, by process: pid_t) throws(Complaint) -> (
        task: UInt64, remaining: UInt64?
    ) {
        try watch(process)
        let entry = BackgroundTasks.Entry(app: app, name: name, process: process)
        let begun = state.access { state -> (UInt64, UInt64?)? in
            guard let task = state.tasks.begin(entry) else { return nil }
            guard case .background(let visit, _)? = state.phases[app] else { return (task, nil) }
            state.phases[app] = .background(visit, hadTasks: true)
            let now = MonotonicClock.nanoseconds
            return (task, visit.deadline > now ? visit.deadline - now : 0)
        }
        guard let begun else {
            throw Complaint(
                .badRequest,
                "begin-background-task: the process \(process) has \(BackgroundTasks.mostOfOneProcess) tasks that it has "
                    + "not ended")
        }
        return begun
    }

    /// Ends the tasks of a process when it ends. A process is watched once, however many tasks it begins.
    private func watch(_ identifier: pid_t) throws(Complaint) {
        guard state.access({ $0.watched.insert(identifier).inserted }) else { return }
        do throws(Complaint) {
            guard let process = WatchedProcess(identifier) else {
                throw Complaint(.badRequest, "begin-background-task: there is no process \(identifier)")
            }
            let end = try Complaint.wrap("cannot wait for the end of the process \(identifier)") {
                () throws(SystemError) in try process.endWatch()
            }
            end.whenReady { [weak self] in self?.endTasks(ofProcess: identifier) }
        } catch {
            endTasks(ofProcess: identifier)
            throw error
        }
    }

    private func endTasks(ofProcess process: pid_t) {
        state.access { state in
            state.tasks.endAll(of: process)
            state.watched.remove(process)
        }
    }

    /// Ends a task. Does nothing for one that has ended.
    func endTask(_ task: UInt64, of app: ContainerIdentifier) {
        state.access { $0.tasks.end(task, of: app) }
    }
}
