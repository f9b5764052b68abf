// Requests on open files: content, holes, fsync(2).

import BackingStore
import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

extension VolumeFileSystem {
    func open(_ node: KernelNode, flags: Int32, reply: consuming OpenReply<FileHandle>) {
        do throws(Fault) {
            let handle = try volume.open(node.id, flags: flags, by: reply.caller.thread)
            try clearSetIDsIfAsked(of: handle, closing: true, for: reply.caller)
            if flags & O_TRUNC != 0 { recordChange(of: node.id) }
            // The kernel may hold pages still that it could not write out: they are dropped after the reply to the
            // write.
            if !reply.opened(handle, keepsContent: !handle.hasLoss) { volume.close(handle) }
        } catch {
            fail(reply, error, .open, of: node.id)
        }
    }

    func create(_ new: NewNode, flags: Int32, reply: consuming CreateReply<FileHandle>) {
        guard let name = FileName(new.name) else { return reply.failName(new.name) }
        let parent = new.parent.id
        do throws(Fault) {
            let (entry, handle) = try volume.create(
                name, in: parent, mode: new.mode, flags: flags, caller: Caller(new.caller))
            // Another process may have made the file since the kernel looked.
            if flags & O_TRUNC != 0, !handle.isNew {
                try clearSetIDsIfAsked(of: handle, closing: true, for: new.caller)
                recordChange(of: handle.nodeID)
            }
            recordChange(of: parent)
            if !reply.created(KernelEntry(entry), handle) {
                volume.close(handle)
                volume.forget(entry.node, count: 1)
            }
        } catch {
            fail(reply, staleIfMoved(error, in: parent, for: new.caller), .create, of: parent, name)
        }
    }

    func read(_ handle: FileHandle, count: Int, from offset: Int64, reply: consuming DataReply) {
        let memory = reply.memory
        var waiting: DataReply? = reply
        do throws(Fault) {
            try volume.read(handle, count: count, from: offset, into: memory) { result in
                waiting.take()?.segments(result.segmentCount) { result.segment($0) }
            }
        } catch {
            guard let reply = waiting.take() else { return }
            fail(reply, error, .read, of: handle.nodeID)
        }
    }

    func write(_ handle: FileHandle, bytes: RawSpan, to offset: Int64, reply: consuming CountReply) {
        do throws(Fault) {
            try clearSetIDsIfAsked(of: handle, for: reply.caller)
            let early = try volume.write(
                handle, bytes: bytes, to: offset, fromCache: CurrentRequest.writesPages)
            recordChange(of: handle.nodeID)
            reply.count(bytes.byteCount)
            early?.begin()
        } catch {
            fail(reply, error, .write, of: handle.nodeID)
            // The kernel would keep the pages that it could not write out, and let them be read.
            guard handle.hasLoss else { return }
            switch error {
            // Pages of other requests may be lost with these.
            case .refused, .system(.inputOutput): forgetContent(of: handle.nodeID)
            default: forgetContent(of: handle.nodeID, offset..<offset + Int64(bytes.byteCount))
            }
        }
    }

    /// Clears set-ID bits where the request says that its caller may not keep them.
    /// - Parameter closing: whether a failure closes the handle, which nobody has yet.
    @inline(__always)
    private func clearSetIDsIfAsked(
        of handle: FileHandle, closing: Bool = false, for caller: RequestCaller
    ) throws(Fault) {
        guard CurrentRequest.clearsSetIDs else { return }
        do throws(Fault) {
            try volume.clearSetIDs(of: handle, by: Caller(caller))
        } catch {
            if closing { volume.close(handle) }
            throw error
        }
    }

    /// The same for requests that say nothing of it: a caller that is not the superuser keeps no bits.
    private func clearSetIDs(of handle: FileHandle, for caller: RequestCaller) throws(Fault) {
        if caller.user != 0 { try volume.clearSetIDs(of: handle, by: Caller(caller)) }
    }

    func mustZeroContent(_ handle: FileHandle) -> Bool { handle.isComplete }

    func close(_ handle: FileHandle) {
        volume.close(handle)
    }

    func synchronize(_ handle: FileHandle, dataOnly: Bool, reply: consuming DoneReply) {
        answer(reply, .fsync, of: handle.nodeID) { () throws(Fault) in
            try volume.synchronize(handle, dataOnly: dataOnly)
        }
    }

    func allocate(_ handle: FileHandle, mode: Int32, offset: Int64, count: Int64, reply: consuming DoneReply) {
        let caller = reply.caller
        answer(reply, .fallocate, of: handle.nodeID) { () throws(Fault) in
            try clearSetIDs(of: handle, for: caller)
            try volume.allocate(handle, mode: mode, offset: offset, count: count)
        }
    }

    func seek(_ handle: FileHandle, from offset: Int64, toHole: Bool, reply: consuming PositionReply) {
        guard volume.mayHoldUnwrittenData(handle), let kernel else {
            return seekNow(handle, from: offset, toHole: toHole, reply: reply)
        }
        // The kernel sends LSEEK without writing dirty pages out: have it do so first. This thread must be free to
        // serve those writes, so the notification's thread replies.
        let waiting = WaitingReply(reply)
        let isSent = kernel.forgetContent(of: KernelNode(handle.nodeID)) { [self] in
            guard let reply = waiting.take() else { return }
            seekNow(handle, from: offset, toHole: toHole, reply: reply)
        }
        // The session is ending, and calls in the mount fail so from now on.
        if !isSent { waiting.take()?.fail(ENOTCONN) }
    }

    private func seekNow(_ handle: FileHandle, from offset: Int64, toHole: Bool, reply: consuming PositionReply) {
        do throws(Fault) {
            reply.position(try volume.seek(handle, from: offset, toHole: toHole))
        } catch {
            fail(reply, error, .lseek, of: handle.nodeID)
        }
    }

    func copy(_ range: CopyRange<FileHandle>, reply: consuming CountReply) {
        do throws(Fault) {
            try clearSetIDs(of: range.target, for: reply.caller)
            let count = try volume.copy(
                from: range.source, at: range.sourceOffset, to: range.target, at: range.targetOffset,
                count: range.count)
            recordChange(of: range.target.nodeID)
            reply.count(count)
        } catch {
            fail(reply, error, .copyFileRange, of: range.source.nodeID)
        }
    }
}

/// A reply handed to another thread. If it is dropped, the request fails with EIO.
private final class WaitingReply: Sendable {
    private let reply: Mutex<PositionReply?>

    init(_ reply: consuming PositionReply) {
        self.reply = Mutex(reply)
    }

    func take() -> PositionReply? {
        reply.withLock { $0.take() }
    }
}
