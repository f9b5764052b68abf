// Stored bytes that fail authentication, in the log and in the record of events.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import Logging
import Platform
import SandboxModel
import Synchronization

/// Records corruption with the path of the file, as far as a mount knows it. The device reports each place once.
/// Lock: of the reference to the mounts, for moments only.
final class CorruptionLog: Sendable {
    private let log: Logger
    private let events: EventLog
    private let mounts = Mutex<Mounts?>(nil)

    init(log: Logger, events: EventLog) {
        self.log = log
        self.events = events
    }

    /// Uses these mounts to find paths. The device may report corruption before it has mounts.
    func watch(_ mounts: Mounts) {
        self.mounts.withLock { $0 = mounts }
    }

    /// Records one place. Called on the thread that read the bytes, because the event names the call in hand there.
    func record(_ corruption: Corruption) {
        if case .record(let name) = corruption.place {
            log.error("\(name.text) is missing, or was not written by this device")
            return events.record(Event(.corrupt, path: name.text, errno: SystemError.inputOutput.name))
        }
        let place = mounts.withLock { $0 }?.homePath(ofInode: corruption.inode)
        let path = place.map { [$0.app?.text, $0.path].compactMap(\.self).joined(separator: "/") }
        log.error("corrupt \(path ?? "inode \(corruption.inode)"): \(corruption.place)")
        // The call on this thread that read the bytes; nil for a check or a purge.
        let call = CallInHand.current
        var event = Event(
            .corrupt, app: place?.app?.text, path: place?.path, operation: call?.call?.rawValue,
            pid: call?.process?.id, process: call?.process?.name, errno: SystemError.inputOutput.name)
        if let place, place.cut > 0 { event.pathCut = place.cut }
        events.record(event)
    }
}
