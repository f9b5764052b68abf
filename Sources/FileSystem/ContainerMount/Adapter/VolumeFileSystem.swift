// The FUSE filesystem of a volume: converts requests for the volume, and its results for the kernel. Requests about
// names are here; the others are in the extensions.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

/// A volume behind a session. The volume makes every decision; this type only converts.
///
/// Locks: each is a leaf, held to copy a reference only.
final class VolumeFileSystem: FileSystem {
    let volume: Volume
    let events: MountEvents
    /// nil until a session is attached, and after its end.
    private let notifications = ShortLock<Notifications?>(nil)
    /// nil for a volume that shows one home.
    private let moves = Mutex<MoveFollower?>(nil)

    init(_ volume: Volume, events: MountEvents) {
        self.volume = volume
        self.events = events
    }

    /// Lets the volume notify the kernel. Call it once, after mounting.
    func attach(_ session: Session) {
        notifications.withLock { $0 = session.notifications }
        volume.kernelCache = self
    }

    /// Has the kernel learn the new place of a directory that one home moved and others show.
    /// - Parameter entrance: the path of the volume's root.
    func followMoves(through entrance: String) {
        moves.withLock { $0 = MoveFollower(volume, entrance: entrance) }
    }

    func ended() {
        volume.kernelCache = nil
        moves.withLock { $0.take() }?.end()
        notifications.withLock { $0 = nil }
        volume.releaseForgotten()
    }

    var kernel: Notifications? { notifications.withLock { $0 } }

    // MARK: Names

    func lookup(_ name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        guard let name = FileName(name) else { return reply.failName(name) }
        do throws(Fault) {
            send(try volume.lookup(name, in: parent.id), reply)
        } catch {
            if error == .system(.noEntry) {
                reply.absent(timeout: volume.isShared(parent.id) ? 0 : CacheTimeout.absence)
            } else {
                reply.fail(error.errno)
            }
        }
    }

    func forget(_ node: KernelNode, count: UInt64) {
        volume.forget(node.id, count: count)
    }

    func symbolicLinkTarget(of node: KernelNode, reply: consuming BytesReply) {
        do throws(Fault) {
            reply.bytes(try volume.symbolicLinkTarget(of: node.id))
        } catch {
            reply.fail(error.errno)
        }
    }

    func makeSymbolicLink(
        _ name: [UInt8], in parent: KernelNode, target: [UInt8], caller: RequestCaller, reply: consuming EntryReply
    ) {
        make(.symlink, name, in: parent, reply) { (name) throws(Fault) in
            try volume.makeSymbolicLink(name, in: parent.id, target: target, caller: Caller(caller))
        }
    }

    func makeNode(_ new: NewNode, reply: consuming EntryReply) {
        make(.mknod, new.name, in: new.parent, reply) { (name) throws(Fault) in
            try volume.makeNode(name, in: new.parent.id, mode: new.mode, caller: Caller(new.caller))
        }
    }

    func makeDirectory(_ new: NewNode, reply: consuming EntryReply) {
        make(.mkdir, new.name, in: new.parent, reply) { (name) throws(Fault) in
            try volume.makeDirectory(name, in: new.parent.id, mode: new.mode, caller: Caller(new.caller))
        }
    }

    func link(_ node: KernelNode, to name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        guard let name = FileName(name) else { return reply.failName(name) }
        do throws(Fault) {
            let entry = try volume.link(node.id, to: name, in: parent.id)
            recordChange(of: parent.id)
            recordChange(of: node.id)
            send(entry, reply)
        } catch {
            fail(reply, staleIfMoved(error, in: parent.id, for: reply.caller), .link) { rule in
                volume.refuses(.linkFrom, node.id, by: rule)
                    ? volume.homePath(of: node.id) : volume.homePath(of: parent.id, name)
            }
        }
    }

    private func make(
        _ call: CallName, _ name: [UInt8], in parent: KernelNode, _ reply: consuming EntryReply,
        _ body: (FileName) throws(Fault) -> Entry
    ) {
        guard let name = FileName(name) else { return reply.failName(name) }
        do throws(Fault) {
            let entry = try body(name)
            recordChange(of: parent.id)
            send(entry, reply)
        } catch {
            fail(reply, staleIfMoved(error, in: parent.id, for: reply.caller), call, of: parent.id, name)
        }
    }

    /// Reports that a call has changed a file, or the entries of a directory, to those who follow changes. Before the
    /// reply: until then the kernel keeps the node, and a caller that goes on finds the change told.
    @inline(__always)
    func recordChange(of node: NodeID) {
        if events.followsChanges() { events.changed(volume.placeOfChange(of: node)) }
    }

    /// Takes the reference back if the kernel did not take the reply.
    private func send(_ entry: Entry, _ reply: consuming EntryReply) {
        if !reply.entry(KernelEntry(entry)) { volume.forget(entry.node, count: 1) }
    }

    func removeFile(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        guard let name = FileName(name) else { return reply.failName(name) }
        answer(reply, .unlink, of: parent.id, name) { () throws(Fault) in
            try volume.removeFile(name, in: parent.id)
        }
    }

    func removeDirectory(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        guard let name = FileName(name) else { return reply.failName(name) }
        answer(reply, .rmdir, of: parent.id, name) { () throws(Fault) in
            try volume.removeDirectory(name, in: parent.id)
        }
    }

    func rename(_ request: RenameRequest, reply: consuming DoneReply) {
        guard let name = FileName(request.name) else { return reply.failName(request.name) }
        guard let newName = FileName(request.newName) else { return reply.failName(request.newName) }
        let (parent, newParent) = (request.parent.id, request.newParent.id)
        do throws(Fault) {
            try volume.rename(name, in: parent, to: newName, in: newParent, mode: Descriptor.RenameMode(request.mode))
            recordChange(of: parent)
            if newParent != parent { recordChange(of: newParent) }
            reply.done()
        } catch {
            fail(reply, staleIfMoved(error, in: newParent, for: reply.caller), .rename) { rule in
                let isSource =
                    volume.refuses(.renameFrom, name, in: parent, by: rule)
                    || request.mode == .exchanging && volume.refuses(.renameInto, name, in: parent, by: rule)
                return isSource ? volume.homePath(of: parent, name) : volume.homePath(of: newParent, newName)
            }
        }
    }

    // MARK: Answers

    /// The fault of a call that makes a name: ESTALE instead of ENOENT if the directory has been replaced meanwhile. On
    /// ESTALE the kernel walks the path once more, and looks up each of its names.
    func staleIfMoved(_ fault: Fault, in directory: NodeID, for caller: RequestCaller) -> Fault {
        guard fault == .system(.noEntry), volume.sendsBack(caller.thread, from: directory) else { return fault }
        return .system(.stale)
    }

    /// Runs a call, and replies with success or its fault.
    func answer(
        _ reply: consuming DoneReply, _ call: CallName, of node: NodeID, _ name: FileName? = nil,
        _ body: () throws(Fault) -> Void
    ) {
        do throws(Fault) {
            try body()
            if call != .fsync { recordChange(of: node) }
            reply.done()
        } catch {
            fail(reply, error, call, of: node, name)
        }
    }
}

extension VolumeFileSystem: KernelCache {
    func forgetEntry(_ name: FileName, in parent: NodeID) {
        kernel?.forgetEntry(Array(name.bytes), in: KernelNode(parent))
    }

    func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool) {
        kernel?.forgetEntry(Array(name.bytes), in: KernelNode(parent), unless: isBack)
    }

    func expireEntry(_ name: FileName, in parent: NodeID) {
        kernel?.expireEntry(Array(name.bytes), in: KernelNode(parent))
    }

    func follow(_ directory: NodeID) { moves.withLock { $0 }?.follow(directory) }

    func forgetContent(of node: NodeID) {
        kernel?.forgetContent(of: KernelNode(node))
    }

    func forgetContent(of node: NodeID, _ range: Range<Int64>) {
        kernel?.forgetContent(of: KernelNode(node), offset: range.lowerBound, count: Int64(range.count))
    }

    func forgetStatus(of node: NodeID) {
        kernel?.forgetContent(of: KernelNode(node), offset: -1)
    }

    func forgetStatusAtOnce(of node: NodeID) { kernel?.forgetStatusAtOnce(of: KernelNode(node)) }

    func lost(_ loss: LostRange) { events.lost(loss) }
}
