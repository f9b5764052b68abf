// What the kernel must let go of when the device locks or restarts, and the files that a restart leaves behind.

import BackingStore
import Platform
public import SandboxModel
import SandboxPolicy
import Synchronization

extension Volume {
    /// The files whose pages must go when the device locks: all of class A, and those of class B that nobody has open.
    public var filesToLock: [CachedFile] {
        table.protectedFiles.compactMap { node in
            openLock(of: node).reading {
                guard case .encrypted(let file)? = node.open?.content else {
                    return CachedFile(node, mayBeWritten: false)
                }
                let isRefused =
                    SandboxPolicy.refusal(of: .read, protection: file.protection, state: .locked, opened: true) != nil
                return isRefused ? CachedFile(node, mayBeWritten: node.open!.writers > 0) : nil
            }
        }
    }

    /// The files that somebody has open.
    public var openFiles: [CachedFile] {
        table.files.compactMap { node in
            openLock(of: node).reading {
                node.open.map { CachedFile(node, mayBeWritten: $0.writers > 0) }
            }
        }
    }

    /// Tells what was written to files and refused because their keys had gone; each range once. Of a file that is
    /// closed it was told then.
    public func reportLosses() {
        for node in table.protectedFiles { reportLoss(of: node) }
    }

    public func reportLoss(of node: NodeID) {
        if let node = table.node(node) { reportLoss(of: node) }
    }

    private func reportLoss(of node: Node) {
        openLock(of: node).reading {
            if let open = node.open, case .encrypted(let file) = open.content {
                reportLoss(of: file, node, writer: open.lastWriter)
            }
        }
    }

    /// The caller holds the node's open lock.
    func reportLoss(of file: EncryptedFile, _ node: Node, writer: Opening?) {
        let ranges = file.takeLoss()
        guard !ranges.isEmpty, let kernelCache else { return }
        let place = homePath(of: node.id)
        for range in ranges { kernelCache.lost(LostRange(place: place, range: range, writer: writer)) }
    }

    /// Whether a write(2) to the file may still be under way.
    public func mayBeWritten(_ node: NodeID) -> Bool {
        guard let node = table.node(node) else { return false }
        return openLock(of: node).reading { (node.open?.writers ?? 0) > 0 }
    }

    /// Lets nothing that is open be written any more, until ``leaveFilesBehind(_:)``.
    public func beginRestart() {
        isRestarting.store(true, ordering: .sequentiallyConsistent)
    }

    /// Leaves every file behind that the kernel knows: each is found again as a new node, and descriptors that were
    /// opened before reach no content any more.
    ///
    /// - Parameter retire: takes the keys out of all that is open; nothing is opened meanwhile.
    public func leaveFilesBehind(_ retire: () -> Void) {
        names.writing {
            retire()
            isForgetting.store(true, ordering: .releasing)
            epoch.store(table.beginEpoch(), ordering: .releasing)
        }
        isRestarting.store(false, ordering: .sequentiallyConsistent)
    }

    /// Has the kernel look every file's name up again that it knows from before the restart. It has obeyed when the
    /// caller says so by ``endRestart()``.
    public func forgetFilesLeftBehind() {
        guard let kernelCache else { return }
        for node in table.files where isPast(node) {
            for (parent, name) in table.names(of: node) { kernelCache.forgetEntry(name, in: parent.id) }
        }
    }

    public func endRestart() {
        isForgetting.store(false, ordering: .releasing)
    }

    /// The epochs of nodes are numbered; there is no other after the last.
    public var canRestart: Bool { epoch.load(ordering: .relaxed) < .max }
}
