// The background tasks that apps have begun: a value without threads and without a clock.

import Glibc
import SandboxModel

/// The tasks for whose end the suspension of an app waits.
struct BackgroundTasks {
    struct Entry {
        let app: ContainerIdentifier
        let name: String
        let process: pid_t
    }

    /// Counted from 1 and never used again: 0 is UIKit's invalid task.
    private var last: UInt64 = 0
    private var entries: [UInt64: Entry] = [:]

    /// The number of tasks that one process may have at a time.
    static let mostOfOneProcess = 1000

    /// - Returns: nil where the process has as many as it may.
    mutating func begin(_ entry: Entry) -> UInt64? {
        guard entries.values.count(where: { $0.process == entry.process }) < BackgroundTasks.mostOfOneProcess else {
            return nil
        }
        last += 1
        entries[last] = entry
        return last
    }

    /// Does nothing for a task that has ended, and for one of another app.
    mutating func end(_ number: UInt64, of app: ContainerIdentifier) {
        if entries[number]?.app == app { entries[number] = nil }
    }

    mutating func endAll(of process: pid_t) { entries = entries.filter { $0.value.process != process } }

    /// The names of an app's tasks, in the order in which they were begun.
    func names(of app: ContainerIdentifier) -> [String] {
        entries.filter { $0.value.app == app }.sorted { $0.key < $1.key }.map(\.value.name)
    }

    func isEmpty(of app: ContainerIdentifier) -> Bool { !entries.values.contains { $0.app == app } }
}
