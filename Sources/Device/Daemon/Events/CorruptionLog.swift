// Stored bytes that do not authenticate, in the log and in the record of events: each place once.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import Logging
import Platform
import SandboxModel
import Synchronization

/// Names the file of a damaged place as far as a mount knows it.
final class CorruptionLog: Sendable {
    private let log: Logger
    private let events: EventLog
    private let mounts = Mutex<Mounts?>(nil)

    init(log: Logger, events: EventLog) {
        self.log = log
        self.events = events
    }

    func watch(_ mounts: Mounts) {
        self.mounts.withLock { $0 = mounts }
    }

    func record(_ corruption: Corruption) {
        let place = mounts.withLock { $0 }?.whereabouts(ofInode: corruption.inode)
        let path = place.map { [$0.app?.text, $0.path].compactMap(\.self).joined(separator: "/") }
        log.error("corrupt \(path ?? "inode \(corruption.inode)"): \(corruption.place)")
        // Found on the thread of the call that wanted it, or by nobody's call.
        let call = CallInHand.current
        events.record(
            Event(
                .corrupt, app: place?.app?.text, path: place?.path, operation: call?.call?.rawValue,
                pid: call?.process?.id, process: call?.process?.name, errno: SystemError.inputOutput.name))
    }
}
