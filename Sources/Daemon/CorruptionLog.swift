// Stored bytes that do not authenticate, in the log: each place once.

import BackingStore
import Logging
import Synchronization

/// Names the file of a damaged place as far as a mount knows it.
final class CorruptionLog: Sendable {
    private let log: Logger
    private let mounts = Mutex<Mounts?>(nil)

    init(log: Logger) {
        self.log = log
    }

    func watch(_ mounts: Mounts) {
        self.mounts.withLock { $0 = mounts }
    }

    func note(_ corruption: Corruption) {
        let path = mounts.withLock { $0 }?.path(ofInode: corruption.inode)
        log.error("corrupt \(path ?? "inode \(corruption.inode)"): \(corruption.place)")
    }
}
