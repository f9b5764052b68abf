// The background tasks of this process, whose devices hear of them.

import Foundation
import Synchronization

enum ApplicationTasks {
    typealias Handler = @MainActor @Sendable () -> Void

    private struct Entry {
        let home: String?
        let handler: Handler?
    }

    private struct State {
        var last = 0
        /// The tasks that have not ended, by identifier.
        var entries: [Int: Entry] = [:]
    }

    private static let state = Mutex(State())

    /// By home.
    private static let lanes = Mutex<[String: TaskLane]>([:])

    private static func lane(of home: String) -> TaskLane {
        lanes.withLock { lanes in
            if let lane = lanes[home] { return lane }
            let lane = TaskLane { HomeDevice(of: home) }
            lanes[home] = lane
            return lane
        }
    }

    /// Returns when the device knows of the task, or is too slow.
    static func begin(_ name: String, of application: UIApplication, _ handler: Handler?) -> UIBackgroundTaskIdentifier
    {
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(home: application.home, handler: handler)
            return state.last
        }
        if let home = application.home { lane(of: home).begin(number, name: name) }
        return UIBackgroundTaskIdentifier(rawValue: number)
    }

    static func end(_ task: UIBackgroundTaskIdentifier) {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: task.rawValue) }), let home = entry.home
        else {
            return
        }
        lane(of: home).end(task.rawValue)
    }

    /// Calls the handlers of the tasks that have not ended, in the order in which they were begun.
    @MainActor static func expire(of application: UIApplication) {
        let expired = state.withLock { state in
            state.entries.filter { $0.value.home == application.home }.sorted { $0.key < $1.key }
        }
        for (number, entry) in expired {
            // One handler may have ended the task of another.
            guard state.withLock({ $0.entries[number] != nil }) else { continue }
            ContainerHome.$current.withValue(application.home) { entry.handler?() }
        }
    }
}
