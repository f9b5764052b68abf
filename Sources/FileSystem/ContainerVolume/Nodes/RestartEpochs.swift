// Restarts of the device while the volume is mounted: files of an earlier epoch reach no content any more.

import SandboxModel
import Synchronization

/// The epochs of a volume. Each restart of the device begins one, and every regular file has the epoch of its lookup.
///
/// Lock rule: none. The values are atomics. The epoch advances while the caller holds the volume's `names` exclusively,
/// so a call that holds `names` sees one epoch.
final class RestartEpochs: Sendable {
    private let current = Atomic<UInt16>(0)
    /// Whether a restart is under way: content that is open is not written any more.
    private let restarting = Atomic<Bool>(false)
    /// Whether the kernel may still know names of files of an earlier epoch.
    private let forgetting = Atomic<Bool>(false)

    /// Whether a restart has come since the kernel looked this file up.
    func isPast(_ node: Node) -> Bool {
        node.kind == .file && node.id.epoch != current.load(ordering: .acquiring)
    }

    var isRestarting: Bool { restarting.load(ordering: .relaxed) }

    var isForgetting: Bool { forgetting.load(ordering: .acquiring) }

    /// Whether the file is of the current epoch and no restart is under way. A hint, which takes no memory barrier.
    func isCurrent(_ id: NodeID) -> Bool {
        id.epoch == current.load(ordering: .relaxed) && !restarting.load(ordering: .relaxed)
    }

    /// Node numbers hold 16 bits of the epoch: there is no restart after the last one.
    var canAdvance: Bool { current.load(ordering: .relaxed) < .max }

    // MARK: The steps of a restart, in order

    /// Refuses writes to open files.
    func beginRestart() { restarting.store(true, ordering: .sequentiallyConsistent) }

    /// The caller holds `names` exclusively.
    func advance(to epoch: UInt16) {
        forgetting.store(true, ordering: .releasing)
        current.store(epoch, ordering: .releasing)
    }

    /// Admits writes to files of the new epoch.
    func admitWrites() { restarting.store(false, ordering: .sequentiallyConsistent) }

    /// The kernel has forgotten the names of files of earlier epochs.
    func endForgetting() { forgetting.store(false, ordering: .releasing) }
}
