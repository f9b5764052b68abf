// create: a new file, named and opened in one call.

import BackingStore
import Glibc
import Platform
public import SandboxModel
import SandboxPolicy

extension Volume {
    /// Creates a file and opens it. A file that exists already is opened, unless `flags` has O_EXCL.
    ///
    /// - Throws: `refused` by the directory's zone, or by the protection class that the directory gives; EEXIST;
    ///   ENOSPC; the host's error. Nothing stays behind then.
    public func create(
        _ name: FileName, in parent: NodeID, mode: FileMode, flags: Int32, caller: Caller
    ) throws(Fault) -> (Entry, FileHandle) {
        let request = Creation(name: name, mode: mode, flags: flags, caller: caller)
        return try making(in: parent) { (parent) throws(Fault) in try create(request, in: parent) }
    }

    /// The arguments of a create call.
    private struct Creation {
        let name: FileName
        let mode: FileMode
        let flags: Int32
        let caller: Caller
    }

    /// The caller holds `names` and the lock of the directory's entries.
    private func create(_ new: Creation, in parent: Node) throws(Fault) -> (Entry, FileHandle) {
        try parent.zone.permit(.create)
        try parent.permit(name: new.name, by: .create)
        let directory = try places.directory(parent)
        let protection = try classes.protection(in: parent)
        if let rule = SandboxPolicy.refusal(of: .create, protection: protection, state: context.deviceState),
            (try? directory.descriptor.status(of: new.name)) == nil
        {
            throw .refused(rule)
        }
        let backing: SharedDescriptor
        do throws(SystemError) {
            backing = SharedDescriptor(
                try directory.descriptor.open(new.name, flags: O_RDWR | O_CREAT | O_EXCL, mode: new.mode & 0o777))
        } catch {
            guard error == .exists, new.flags & O_EXCL == 0 else { throw .system(error) }
            return try openExisting(new, in: parent)
        }
        do throws(Fault) {
            try give(backing, to: new, in: directory)
            // The status of the finished file: with the times of the header, the kernel has none of its own to send.
            let (file, status) = try EncryptedFile.create(backing, protection: protection, context: context)
            file.keep(modificationTime: status.modificationTime, isOnHost: true)
            return try add(file, status, new, in: parent)
        } catch {
            // Nothing was acknowledged, and no name may stay behind.
            try? directory.descriptor.removeFile(new.name)
            throw error
        }
    }

    private func openExisting(_ new: Creation, in parent: Node) throws(Fault) -> (Entry, FileHandle) {
        let entry = try find(new.name, in: parent)
        do throws(Fault) {
            let node = try node(entry.node)
            guard node.kind == .file else { throw .system(.exists) }
            return try entryLocks.keepingPlace(of: node) { () throws(Fault) in
                (entry, try open(node, flags: new.flags, by: new.caller.thread))
            }
        } catch {
            forget(entry.node, count: 1)
            throw error
        }
    }

    /// Sets owner and mode of a new backing file, as far as open(2) has not.
    private func give(
        _ backing: SharedDescriptor, to new: Creation, in directory: SharedDescriptor
    ) throws(Fault) {
        try onHost { () throws(SystemError) in
            try backing.descriptor.requireNotOfReserve()
            if let (owner, group) = try places.credentials.newOwner(for: new.caller, in: directory) {
                try backing.descriptor.changeOwner(owner, group: group)
            }
            if new.mode & 0o7000 != 0 {
                let status = try backing.descriptor.status()
                try Place.descriptor(backing).storeMode(new.mode & 0o7777, over: status)
            }
        }
    }

    /// Makes a new file known, and opens it.
    private func add(
        _ file: EncryptedFile, _ status: FileStatus, _ new: Creation, in parent: Node
    ) throws(Fault) -> (Entry, FileHandle) {
        let entry = entry(status, new.name, parent, isNew: true)
        let node = try node(entry.node)
        access.recordUse(of: node)
        let writing = new.flags & O_ACCMODE != O_RDONLY
        let content = openFiles.add(file, status.mode, to: node, writing: writing, by: new.caller.thread)
        return (entry, FileHandle(node: node, content: content, canWrite: writing, isNew: true))
    }
}
