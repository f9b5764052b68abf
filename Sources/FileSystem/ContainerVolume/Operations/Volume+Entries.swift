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
            try parent.zone.permit(.makeDirectory)
            try parent.permit(name: name)
            let directory = try places.directory(parent)
            let protection = try classes.protection(in: parent)
            try context.space.requireRoom()
            let status = try onHost { () throws(SystemError) in
                let isPlain = protection == .standard
                // An ordinary user sets attributes of what it may write to; the mode that was asked for comes last.
                let needed: mode_t = isPlain || places.credentials.isSuperuser ? 0 : 0o700
                try directory.descriptor.makeDirectory(name, mode: mode & 0o1777 | needed)
                if !isPlain { try store(protection, name, in: directory) }
                return try places.credentials.give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            accounting.recordNew(status)
            let entry = entry(status, name, parent, isNew: true)
            // One directory, one class: nobody has changed it yet who would not change it here.
            if let node = table.node(entry.node) {
                _ = node.protection.learn(protection)
                access.recordCreation(of: node)
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
            try parent.zone.permit(.makeSymbolicLink)
            try parent.permit(name: name)
            let directory = try places.directory(parent)
            try context.space.requireRoom()
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
        return try making(in: parent) { () throws(Fault) in
            let parent = try self.parent(parent)
            try parent.zone.permit(.makeNode)
            try parent.permit(name: name)
            let directory = try places.directory(parent)
            let status = try onHost { () throws(SystemError) in
                try directory.descriptor.makeNode(name, mode: mode & (S_IFMT | 0o1777))
                return try places.credentials.give(name, in: directory, to: caller, mode: mode & 0o7777)
            }
            return entry(status, name, parent, isNew: true)
        }
    }

    /// Gives a file a further name.
    public func link(_ node: NodeID, to name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try names.writing { () throws(Fault) in
            let node = try self.node(node)
            let parent = try self.parent(parent)
            try node.zone.permit(.linkFrom)
            try parent.zone.permit(.linkInto)
            try parent.permit(name: name)
            guard !node.isDirectory else { throw .system(.notPermitted) }
            guard case .entry(let source, let oldName) = try places.place(of: node) else { throw .system(.noEntry) }
            let target = try places.directory(parent)
            let status = try onHost { () throws(SystemError) in
                try source.descriptor.link(oldName, to: name, in: target.descriptor)
                return try target.descriptor.status(of: name)
            }
            return entry(status, name, parent, isNew: true)
        }
    }
}
