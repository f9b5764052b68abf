// Set-user-ID and set-group-ID bits, which a change of content or owner clears as on ext4.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// Clears the set-ID bits of an open file whose content is about to change.
    ///
    /// The kernel keeps the mode that it was told: it is told to ask again before this returns, so that no stat(2)
    /// after the change shows the bits.
    /// - Parameter caller: without CAP_FSETID, with which the bits stay.
    public func clearSetIDs(of handle: FileHandle, by caller: Caller) throws(Fault) {
        guard case .encrypted(let file) = handle.content else { return }
        let node = handle.node
        let place = Place.descriptor(file.backing)
        let hasCleared = try openFiles.lock(of: node).reading { () throws(Fault) in
            try onHost { () throws(SystemError) in try clearSetIDs(of: node, at: place, by: caller) }
        }
        if hasCleared { kernelCache?.forgetStatusAtOnce(of: node.id) }
    }

    /// The caller holds the node's open lock.
    /// - Returns: whether there were bits to clear.
    @discardableResult
    func clearSetIDs(of node: Node, at place: Place, by caller: Caller?) throws(SystemError) -> Bool {
        guard node.kind == .file else { return false }
        let present = try place.status()
        guard NodeModes.hasSign(present) else { return false }
        let shown = place.shown(present)
        let mode = NodeModes.cleared(shown.permissions) { caller.map { $0.isOf(shown.group) } ?? false }
        guard mode != shown.permissions else { return false }
        defer { node.open?.mode.forget() }
        try place.storeMode(mode, over: present)
        return true
    }

    /// chmod(2). The caller holds the node's open lock.
    func changeMode(_ mode: mode_t, of node: Node, at place: Place) throws(SystemError) {
        let known = node.open?.mode.status
        let present = if let known { known } else { try place.status() }
        node.open?.mode.forget()
        try place.storeMode(mode, over: present)
        if known != nil { node.open?.mode.set(S_IFREG | NodeModes.stored(mode)) }
        // The host may have taken a block for the attribute, or released one.
        guard present.kind == .file, NodeModes.hasSign(present) || NodeModes.attribute(of: mode) != nil else { return }
        if case .encrypted(let file)? = node.open?.content { return file.countSpace() }
        guard !node.isNameless, let after = try? place.status() else { return }
        space.recount(after.inode, from: space.weights.bytes(present), to: space.weights.bytes(after))
    }

    /// chown(2), which clears the set-ID bits of anything but a directory, for the superuser too. The caller holds the
    /// node's open lock.
    func changeOwner(
        _ change: FileStatusChange, of node: Node, at place: Place, by caller: Caller?
    ) throws(SystemError) {
        var before: FileStatus?
        if let known = node.open?.mode.status, places.credentials.isSuperuser, !NodeModes.hasSign(known) {
            // It has no set-ID bits.
        } else if node.kind == .file || node.kind == .special {
            before = place.shown(try place.status())
        }
        if !change.isEmpty { try place.changeOwner(change.owner ?? uid_t.max, group: change.group ?? gid_t.max) }
        guard let before, before.permissions & (S_ISUID | S_ISGID) != 0 else { return }
        let mode = NodeModes.cleared(before.permissions) {
            caller.map { $0.user == 0 || $0.isOf(before.group) } ?? false
        }
        // The kernel lets everybody change nothing, but a clearing is a chmod(2).
        if change.isEmpty, mode != before.permissions, let caller, caller.user != 0, caller.user != before.owner {
            throw .notPermitted
        }
        let present = try place.status()
        guard place.shown(present).permissions != mode else { return }
        defer { node.open?.mode.forget() }
        try place.storeMode(mode, over: present)
    }
}

extension FileStatusChange {
    /// Whether this is a chown(2) with neither an owner nor a group. Of a file, a write(2) that clears set-ID bits
    /// comes with nothing at all.
    func isEmptyOwnerChange(of node: Node) -> Bool { isEmpty && (setsChangeTime || node.kind == .special) }
}

extension Caller {
    /// Whether the caller is of a group, by its own or a supplementary one.
    fileprivate func isOf(_ group: gid_t) -> Bool {
        self.group == group || HostProcess.groups(ofThread: thread).contains(group)
    }
}
