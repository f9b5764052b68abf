// What is said about nodes: attributes, directories' lists, the filesystem's figures.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension MountedVolume {
    func attributes(of node: KernelNode, handle: FileHandle?, reply: consuming AttributesReply) {
        do throws(Fault) {
            send(try volume.status(of: node.id, handle: handle), of: node, reply)
        } catch {
            // No rule keeps anybody from looking. With a handle it is read(2) or write(2) that asks, for the file's end.
            fail(reply, error, handle?.canWrite == false ? .read : .write, of: node.id)
        }
    }

    func setAttributes(
        _ change: AttributeRequest, of node: KernelNode, handle: FileHandle?, reply: consuming AttributesReply
    ) {
        do throws(Fault) {
            send(try volume.setAttributes(AttributeChange(change), of: node.id, handle: handle), of: node, reply)
        } catch {
            fail(reply, error, CallName(change, error), of: node.id)
        }
    }

    private func send(_ status: FileStatus, of node: KernelNode, _ reply: consuming AttributesReply) {
        let keeps = volume.keepsAttributes(of: node.id, status)
        reply.attributes(status, timeout: keeps ? Trust.attributes : 0)
    }

    /// What a write(2) takes away from a file, if it is there. The kernel looks for it when it has the inode's lock and
    /// before it changes a page, unless it knows since it learned of the attributes last that it is not there.
    ///
    /// So there is one while nothing may be written: the kernel comes to remove it, which is refused, and the write is
    /// refused with that. It asks for attributes before it takes the lock, and may have heard that it may write by then.
    private static let capability = Array("security.capability".utf8)

    func attribute(_ name: [UInt8], of node: KernelNode, reply: consuming AttributeReply) {
        if name == MountedVolume.capability, volume.refusalOfWriting(to: node.id) != nil { return reply.presence() }
        do throws(Fault) {
            reply.value(try volume.attribute(name, of: node.id))
        } catch {
            reply.fail(error.errno)
        }
    }

    func setAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply
    ) {
        answer(reply, .setxattr, of: node.id) { () throws(Fault) in
            try volume.setAttribute(name, to: value, flags: flags, of: node.id)
        }
    }

    func attributeNames(of node: KernelNode, reply: consuming AttributeNamesReply) {
        do throws(Fault) {
            reply.names(try volume.attributeNames(of: node.id))
        } catch {
            reply.fail(error.errno)
        }
    }

    func removeAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply) {
        if name == MountedVolume.capability, let refusal = volume.refusalOfWriting(to: node.id) {
            return fail(reply, refusal, .write, of: node.id)
        }
        answer(reply, .removexattr, of: node.id) { () throws(Fault) in
            try volume.removeAttribute(name, of: node.id)
        }
    }

    func inodeFlags(of node: KernelNode, reply: consuming InodeFlagsReply) {
        do throws(Fault) {
            reply.flags(try volume.inodeFlags(of: node.id))
        } catch {
            reply.fail(error.errno)
        }
    }

    func setInodeFlags(_ flags: UInt32, mask: UInt32, of node: KernelNode, reply: consuming DoneReply) {
        answer(reply, .setflags, of: node.id) { () throws(Fault) in
            // The kernel holds the inode's lock: nobody else changes the flags meanwhile.
            let kept = mask == .max ? 0 : try volume.inodeFlags(of: node.id) & ~mask
            try volume.setInodeFlags(kept | flags & mask, of: node.id)
        }
    }

    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply) {
        var reply = reply
        let withEntries = reply.withEntries
        var isEmpty = true
        do throws(Fault) {
            try volume.list(node.id, from: position, withEntries: withEntries) { listed in
                let isTaken =
                    if let entry = listed.entry {
                        reply.add(listed.terminatedName, entry: KernelEntry(entry), next: listed.next)
                    } else {
                        reply.add(
                            listed.terminatedName, inode: listed.inode, type: listed.type, next: listed.next)
                    }
                if isTaken { isEmpty = false }
                return isTaken
            }
            reply.send()
            // The kernel caches a list that it has seen the end of. What other homes change in it, it would not hear of.
            if isEmpty, volume.isShared(node.id) { kernel?.forgetContent(of: node) }
        } catch {
            // What is packed already counts as looked up: it is sent, and the error comes with the next call.
            if isEmpty { reply.fail(error.errno) } else { reply.send() }
        }
    }

    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply) {
        answer(reply, .fsync, of: node.id) { () throws(Fault) in
            try volume.synchronizeDirectory(node.id)
        }
    }

    func statistics(of node: KernelNode, reply: consuming StatisticsReply) {
        do throws(Fault) {
            let host = try volume.statistics()
            reply.statistics(
                FileSystemStatistics(
                    blockSize: UInt64(host.f_frsize), blocks: UInt64(host.f_blocks),
                    freeBlocks: UInt64(host.f_bfree), availableBlocks: UInt64(host.f_bavail),
                    files: UInt64(host.f_files), freeFiles: UInt64(host.f_ffree)))
        } catch {
            reply.fail(error.errno)
        }
    }
}
