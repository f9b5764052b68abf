// The process around the purger: its mounts, running apps, operations and events, as the module Purging asks for them.

import AppContainer
import BackingStore
import ContainerVolume
import Logging
import Platform
import Purging
import SandboxModel

/// Connects the purger to the rest of the device's process. Any thread may call it: the purger's own, and those that
/// help it to remove.
struct PurgeConnection: PurgeEnvironment {
    let mounts: Mounts
    let running: RunningApps
    let operations: AppOperations
    let events: EventLog
    let log: Logger

    var runningApps: Set<ContainerIdentifier> { running.all }

    func isRunning(_ app: ContainerIdentifier) -> Bool { running.isRunning(app) }

    /// An operation on an app keeps the purger away from it, and the other way round.
    func whileIdle<Result>(_ app: ContainerIdentifier, _ body: () -> Result) -> Result? {
        operations.tryRun(on: app, body)
    }

    /// The volume that shows an app, also one that is unmounted and still in use.
    func volume(of app: ContainerIdentifier) -> Volume? { mounts.volumeBehind(app) }

    /// Records an event for each entry, all of a batch at once.
    func record(_ purged: [PurgeOutcome.Purged]) {
        events.record(purged.map { $0.reason == .old ? Event(cleaned: $0) : Event(.purged, of: $0) })
    }

    func record(_ disobeyed: [PurgeOutcome.Disobeyed]) {
        events.record(
            disobeyed.map { Event(.disobeyed, app: $0.app.text, path: $0.path, reason: $0.deed.rawValue) })
    }

    func logTrashFailure(_ error: SystemError) {
        log.warning("cannot remove what was purged: \(error.message)")
    }
}

extension Event {
    fileprivate init(_ name: Name, of purged: PurgeOutcome.Purged) {
        self.init(
            name, app: purged.unit.app.text, path: purged.unit.path, size: purged.bytes, reason: purged.reason.rawValue)
    }

    /// The event of an old item of `tmp` that was removed.
    init(cleaned item: PurgeOutcome.Purged) { self.init(.cleaned, of: item) }
}
