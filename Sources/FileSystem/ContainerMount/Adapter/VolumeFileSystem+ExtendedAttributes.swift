// Extended attributes, and inode flags (chattr(1)).

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension VolumeFileSystem {
    /// The attribute that write(2) removes from a file. Under the inode lock and before it changes a page, the kernel
    /// looks it up, unless it has cached that the attribute is absent.
    ///
    /// While locked we report one and refuse to remove it, so the write fails under the inode lock. The check of
    /// GETATTR comes before that lock, so its answer may be out of date.
    private static let capability = Array("security.capability".utf8)

    func extendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming ExtendedAttributeReply) {
        if name == VolumeFileSystem.capability, volume.refusalOfWriting(to: node.id) != nil { return reply.presence() }
        do throws(Fault) {
            reply.value(try volume.attribute(name, of: node.id))
        } catch {
            fail(reply, error, .getxattr, of: node.id)
        }
    }

    func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply
    ) {
        answer(reply, .setxattr, of: node.id) { () throws(Fault) in
            try volume.setAttribute(name, to: value, flags: flags, of: node.id)
        }
    }

    func extendedAttributeNames(of node: KernelNode, reply: consuming ExtendedAttributeNamesReply) {
        do throws(Fault) {
            reply.names(try volume.attributeNames(of: node.id))
        } catch {
            reply.fail(error.errno)
        }
    }

    func removeExtendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply) {
        if name == VolumeFileSystem.capability, let refusal = volume.refusalOfWriting(to: node.id) {
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
            // The kernel holds the inode lock, so the flags do not change in between.
            let kept = mask == .max ? 0 : try volume.inodeFlags(of: node.id) & ~mask
            try volume.setInodeFlags(kept | flags & mask, of: node.id)
        }
    }
}
