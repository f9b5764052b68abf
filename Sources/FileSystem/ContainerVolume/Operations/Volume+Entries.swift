// Making entries: mkdir, symlink, mknod, link. Creating files is with opening them.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// - Throws: `refused` by the directory's zone; EEXIST; the host's error.
    public func makeDirectory(
        _ name: FileName, in parent: NodeID, mode: FileMode, caller: Caller
    ) throws(Fault) -> Entry {
        try making(in: parent) { () throws(Fault) in
            let parent = try self.parent(parent)
            try permit(.makeDirectory, on: parent.zone)
            try permit(name: name, in: parent)
            let directory = try directory(parent)
            let protection = try protection(in: parent)
            try context.space.requireSpace()
            let status = try onHost { () throws(SystemError) in
                let isPlain = protection == .standard
                // An ordinary user sets attributes of what it may write to; the mode that was asked for comes last.
                let needed: mode_t = isPlain || daemonUser == 0 ? 0 : 0o700
                try directory.descriptor.makeDirectory(name, mode: mode & 0o1777 | needed)
                if !isPlain { try store(protection, name, in: directory) }
                return try give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            countNew(status)
            let entry = entry(status, name, parent, isNew: true)
            // One directory, one class: nobody has changed it yet who would not change it here.
            if let node = table.node(entry.node) {
                _ = node.protection.learn(protection)
                noteMaking(of: node)
            }
            return entry
        }
    }

    /// Has a new directory give what its parent gives, wherever it is moved.
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

    public func makeSymbolicLink(
        _ name: FileName, in parent: NodeID, target: [UInt8], caller: Caller
    ) throws(Fault) -> Entry {
        try making(in: parent) { () throws(Fault) in
            let parent = try self.parent(parent)
            try permit(.makeSymbolicLink, on: parent.zone)
            try permit(name: name, in: parent)
            let directory = try directory(parent)
            try context.space.requireSpace()
            let status = try onHost { () throws(SystemError) in
                try directory.descriptor.makeSymbolicLink(name, target: target)
                return try give(name, in: directory, to: caller, mode: nil)
            }
            countNew(status)
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
        return try making(in: parent) { () throws(Fault) in
            let parent = try self.parent(parent)
            try permit(.makeNode, on: parent.zone)
            try permit(name: name, in: parent)
            let directory = try directory(parent)
            let status = try onHost { () throws(SystemError) in
                try directory.descriptor.makeNode(name, mode: mode & (S_IFMT | 0o1777))
                return try give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            return entry(status, name, parent, isNew: true)
        }
    }

    /// Gives a file a further name.
    public func link(_ node: NodeID, to name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try names.writing { () throws(Fault) in
            let node = try self.node(node)
            let parent = try self.parent(parent)
            try permit(.linkFrom, on: node.zone)
            try permit(.linkInto, on: parent.zone)
            try permit(name: name, in: parent)
            guard !node.isDirectory else { throw .system(.notPermitted) }
            guard case .entry(let source, let oldName) = try place(of: node) else { throw .system(.noEntry) }
            let target = try directory(parent)
            let status = try onHost { () throws(SystemError) in
                try source.descriptor.link(oldName, to: name, in: target.descriptor)
                return try target.descriptor.status(of: name)
            }
            return entry(status, name, parent, isNew: true)
        }
    }

    // MARK: Belonging to the caller

    /// Gives a new entry to the caller, as the host would have if the caller had made it.
    ///
    /// The kernel has applied the caller's umask. A directory with the set-group-ID bit passes its group on, which
    /// the host has done already.
    ///
    /// - Parameter mode: the mode it is to have at last; nil for a symbolic link, which has none.
    func give(
        _ name: FileName, in directory: SharedDescriptor, to caller: Caller, mode: FileMode?
    ) throws(SystemError) -> FileStatus {
        do throws(SystemError) {
            if let (owner, group) = try newOwner(for: caller, in: directory) {
                try directory.descriptor.changeOwner(of: name, to: owner, group: group)
            }
            var status = try directory.descriptor.status(of: name)
            if let mode {
                let inherited = status.kind == .directory ? status.mode & S_ISGID : 0
                if status.permissions != mode | inherited {
                    try directory.descriptor.changeMode(of: name, to: mode | inherited)
                    status = try directory.descriptor.status(of: name)
                }
            }
            return status
        } catch {
            // The entry was never acknowledged: it must not stay behind with another owner.
            try? directory.descriptor.removeFile(name)
            try? directory.descriptor.removeDirectory(name)
            throw error
        }
    }

    /// Owner and group that a new entry must be given; nil when the host gives it the right ones by itself.
    func newOwner(for caller: Caller, in directory: SharedDescriptor) throws(SystemError) -> (uid_t, gid_t)? {
        guard daemonUser == 0, caller.user != 0 || caller.group != daemonGroup else { return nil }
        let passesGroup = try directory.descriptor.status().mode & S_ISGID != 0
        return (caller.user, passesGroup ? gid_t.max : caller.group)
    }
}
