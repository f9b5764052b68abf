// New entries: mkdir, symlink, mknod and link. New files are in `Volume+Create`.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// Makes a directory, which gives the same protection class as its parent.
    /// - Throws: `refused` by the directory's zone; EEXIST; ENOSPC; the host's error.
    public func makeDirectory(
        _ name: FileName, in parent: NodeID, mode: FileMode, caller: Caller
    ) throws(Fault) -> Entry {
        try making(in: parent) { (parent) throws(Fault) in
            try parent.zone.permit(.makeDirectory)
            try parent.permit(name: name, by: .makeDirectory)
            let directory = try places.directory(parent)
            let protection = try classes.protection(in: parent)
            try context.space.requireSpace()
            let status = try onHost { () throws(SystemError) in
                let isPlain = protection == .standard
                // An ordinary user's daemon sets attributes only of a directory that it may write to: the real mode
                // comes last.
                let needed: mode_t = isPlain || places.credentials.isSuperuser ? 0 : 0o700
                try directory.descriptor.makeDirectory(name, mode: mode & 0o1777 | needed)
                if !isPlain { try store(protection, name, in: directory) }
                return try places.credentials.give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            accounting.recordNew(status)
            let entry = entry(status, name, parent, isNew: true)
            // The class cannot have been changed before the node was known.
            if let node = table.node(entry.node) {
                _ = node.protection.learn(protection)
                access.recordCreation(of: node)
            }
            return entry
        }
    }

    /// Stores the class that a new directory gives, so that it stays when the directory is moved.
    private func store(
        _ protection: ProtectionClass, _ name: FileName, in directory: SharedDescriptor
    ) throws(SystemError) {
        do throws(SystemError) {
            try Place.entry(directory, name).storeClass(protection)
        } catch {
            // The entry was never acknowledged: it must not stay behind with another class.
            try? directory.descriptor.removeDirectory(name)
            throw error
        }
    }

    /// Makes a symbolic link.
    /// - Throws: `refused` by the directory's zone; EEXIST; ENOSPC; the host's error.
    public func makeSymbolicLink(
        _ name: FileName, in parent: NodeID, target: [UInt8], caller: Caller
    ) throws(Fault) -> Entry {
        try making(in: parent) { (parent) throws(Fault) in
            try parent.zone.permit(.makeSymbolicLink)
            try parent.permit(name: name, by: .makeSymbolicLink)
            let directory = try places.directory(parent)
            try context.space.requireSpace()
            let status = try onHost { () throws(SystemError) in
                try directory.descriptor.makeSymbolicLink(name, target: target)
                return try places.credentials.give(name, in: directory, to: caller, mode: nil)
            }
            accounting.recordNew(status)
            return entry(status, name, parent, isNew: true)
        }
    }

    /// Makes a regular file, a fifo or a socket.
    ///
    /// - Throws: `refused(.deviceNode)` for a device.
    public func makeNode(_ name: FileName, in parent: NodeID, mode: FileMode, caller: Caller) throws(Fault) -> Entry {
        switch mode & S_IFMT {
        case S_IFREG, 0:
            let (entry, handle) = try create(name, in: parent, mode: mode, flags: O_WRONLY | O_EXCL, caller: caller)
            close(handle)
            return entry
        case S_IFIFO, S_IFSOCK:
            break
        default:
            throw .refused(.deviceNode)
        }
        return try making(in: parent) { (parent) throws(Fault) in
            try parent.zone.permit(.makeNode)
            try parent.permit(name: name, by: .makeNode)
            let directory = try places.directory(parent)
            let status = try onHost { () throws(SystemError) in
                try directory.descriptor.makeNode(name, mode: mode & (S_IFMT | 0o1777))
                return try places.credentials.give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            return entry(status, name, parent, isNew: true)
        }
    }

    /// Gives a file a further name.
    /// - Throws: `refused` by the zone of the file or of the directory; EPERM for a directory; the host's error.
    public func link(_ node: NodeID, to name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            let parent = try self.parent(parent)
            try node.zone.permit(.linkFrom)
            try parent.zone.permit(.linkInto)
            try parent.permit(name: name, by: .linkInto)
            guard !node.isDirectory else { throw .system(.notPermitted) }
            return try entryLocks.changingEntries(of: parent) { () throws(Fault) in
                try entryLocks.changingPlace(of: node.inode) { () throws(Fault) in
                    try link(node, to: name, in: parent)
                }
            }
        }
    }

    /// The caller holds the locks of the directory's entries and of the file's place, and has asked the rules.
    private func link(_ node: Node, to name: FileName, in parent: Node) throws(Fault) -> Entry {
        guard case .entry(let source, let oldName) = try places.place(of: node) else { throw .system(.noEntry) }
        let target = try places.directory(parent)
        defer { openFiles.recordChange() }
        let status = try onHost { () throws(SystemError) in
            try source.descriptor.link(oldName, to: name, in: target.descriptor)
            return try target.descriptor.status(of: name)
        }
        return entry(status, name, parent, isNew: true)
    }
}
