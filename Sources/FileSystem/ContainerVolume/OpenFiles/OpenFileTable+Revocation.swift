// The open files that a lock, a restart or a purge must know, and the writes that were lost to a lock.

import BackingStore
import Platform
import SandboxModel
import SandboxPolicy

extension OpenFileTable {
    /// The files whose pages must go when the device locks: all of class A, and those of class B that nobody has open.
    var filesToLock: [CachedFile] {
        table.protectedFiles.compactMap { node in
            lock(of: node).reading {
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
    var openFiles: [CachedFile] {
        table.files.compactMap { node in
            lock(of: node).reading {
                node.open.map { CachedFile(node, mayBeWritten: $0.writers > 0) }
            }
        }
    }

    /// The host's inode numbers of files that somebody has open.
    var openInodes: Set<UInt64> {
        context.openFiles.inodes.filter { inode in
            table.known(inode: inode).map { node in lock(of: node).reading { node.open != nil } } ?? false
        }
    }

    /// The open file of an inode of the host, if there is one.
    func openFile(inode: UInt64) -> EncryptedFile? {
        guard let node = table.known(inode: inode), !places.epochs.isPast(node) else { return nil }
        return lock(of: node).reading {
            if case .encrypted(let file)? = node.open?.content { file } else { nil }
        }
    }

    /// Whether a handle of the file is open for writing: a write(2) may be under way, and the kernel may hold data that
    /// it has not written out.
    func hasWriters(_ node: Node) -> Bool {
        lock(of: node).reading { (node.open?.writers ?? 0) > 0 }
    }

    /// Records that a file has lost its last name.
    /// - Returns: whether it is open, so that its space is released when it is closed.
    func recordRemoval(of node: Node) -> Bool {
        lock(of: node).writing {
            node.isNameless = true
            return node.open != nil
        }
    }

    // MARK: Lost writes

    /// Reports each range of an open file whose write was refused because the key had gone, once.
    func reportLoss(of node: Node) {
        lock(of: node).reading {
            if let open = node.open, case .encrypted(let file) = open.content {
                reportLoss(of: file, node, writer: open.lastWriter)
            }
        }
    }

    /// The caller holds the node's open lock.
    func reportLoss(of file: EncryptedFile, _ node: Node, writer: Opening?) {
        let ranges = file.takeUnreportedLoss()
        guard !ranges.isEmpty, let kernel = kernel.current else { return }
        let place = table.homePath(of: node)
        for range in ranges { kernel.lost(LostRange(place: place, range: range, writer: writer)) }
    }
}
