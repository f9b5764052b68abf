// A lock or a restart of the device: the files that the kernel must let go of, and the files that a restart leaves
// behind. The rules of open files are in ``OpenFileTable``.

import BackingStore
import Platform
public import SandboxModel

extension Volume {
    // MARK: Lock

    /// The files whose pages must go when the device locks: all of class A, and those of class B that nobody has open.
    public var filesToLock: [CachedFile] { openFiles.filesToLock }

    /// The files that somebody has open.
    public var filesInUse: [CachedFile] { openFiles.openFiles }

    /// Whether a write(2) to the file may still be under way.
    public func mayBeWritten(_ node: NodeID) -> Bool {
        table.node(node).map { openFiles.hasWriters($0) } ?? false
    }

    /// Reports writes that were refused because their keys had gone, each range once. Losses of a file that is closed
    /// were reported when it was closed.
    public func reportLosses() {
        for node in table.protectedFiles { openFiles.reportLoss(of: node) }
    }

    /// As ``reportLosses()``, for one file.
    public func reportLoss(of node: NodeID) {
        if let node = table.node(node) { openFiles.reportLoss(of: node) }
    }

    // MARK: Restart

    /// Refuses writes to everything that is open, until ``leaveFilesBehind(_:)``.
    public func beginRestart() { places.epochs.beginRestart() }

    /// Leaves every file behind that the kernel knows: each is found again as a new node, and descriptors that were
    /// opened before reach no content any more.
    ///
    /// - Parameter retire: takes the keys out of all that is open; nothing is opened meanwhile.
    public func leaveFilesBehind(_ retire: () -> Void) {
        names.writing {
            retire()
            places.epochs.advance(to: table.beginEpoch())
        }
        places.epochs.admitWrites()
    }

    /// Has the kernel look up the name of every file that it knows from before the restart. The caller calls
    /// ``endRestart()`` when the kernel has obeyed.
    public func forgetFilesLeftBehind() {
        guard let kernelCache else { return }
        for node in table.files where places.epochs.isPast(node) {
            for (parent, name) in table.names(of: node) { kernelCache.forgetEntry(name, in: parent.id) }
        }
    }

    public func endRestart() { places.epochs.endForgetting() }

    /// Whether a further restart can be numbered.
    public var canRestart: Bool { places.epochs.canAdvance }
}
