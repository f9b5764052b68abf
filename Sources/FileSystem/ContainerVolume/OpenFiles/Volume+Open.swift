// open and close of files that exist. The content of open files is in ``OpenFileTable``.

public import BackingStore
public import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// Opens a file that exists.
    ///
    /// - Parameters:
    ///   - flags: as open(2) has them; only the access mode and O_TRUNC matter.
    ///   - thread: the calling thread; 0 for one that cannot be seen.
    /// - Throws: `refused` by the node's zone or its protection class; `corrupt`; ESTALE where the kernel has a wrong
    ///   idea of the file's length, whereupon it looks the name up again.
    public func open(_ node: NodeID, flags: Int32, by thread: pid_t = 0) throws(Fault) -> FileHandle {
        try keepingPlace(of: node) { (node) throws(Fault) in
            if node.kind == .cacheTag { return try cacheTags.open(node, flags: flags) }
            guard node.kind == .file else { throw .system(node.isDirectory ? .isDirectory : .noSuchAddress) }
            return try open(node, flags: flags, by: thread)
        }
    }

    /// The caller keeps the node's place.
    func open(_ node: Node, flags: Int32, by thread: pid_t) throws(Fault) -> FileHandle {
        let writing = flags & O_ACCMODE != O_RDONLY
        let truncates = flags & O_TRUNC != 0
        if flags & O_ACCMODE != O_WRONLY { try node.zone.permit(.read) }
        if writing { try node.zone.permit(.write) }
        let content = try openFiles.open(node, writing: writing || truncates, by: thread)
        access.recordUse(of: node)
        if truncates {
            do throws(Fault) {
                try node.zone.permit(.truncate)
                if case .encrypted(let file) = content { try file.truncate(to: 0) }
            } catch {
                openFiles.close(node, writing: true)
                throw error
            }
        }
        return FileHandle(node: node, content: content, canWrite: writing || truncates)
    }

    /// Ends a handle. The last writer's close commits the length to the header.
    public func close(_ handle: FileHandle) {
        openFiles.close(handle.node, writing: handle.canWrite)
        access.recordUse(of: handle.node)
    }

    // MARK: The device's state

    /// The reason for which nothing can be written through the open descriptors of a file; nil when writing works.
    public func refusalOfWriting(to node: NodeID) -> Fault? { openFiles.refusalOfWriting(to: node) }

    /// Whether the kernel may hold data of the handle's file that it has not written out.
    public func mayHoldUnwrittenData(_ handle: FileHandle) -> Bool { openFiles.hasWriters(handle.node) }

    /// The open file of an inode of the host, if there is one.
    public func openFile(inode: UInt64) -> EncryptedFile? { openFiles.openFile(inode: inode) }

    /// The host's inode numbers of files that somebody has open through this volume.
    public var openInodes: Set<UInt64> { openFiles.openInodes }
}
