// Status, extended attributes and inode flags.

import CPlatform
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension PassthroughFileSystem {
    func status(of node: KernelNode, handle: OpenFile?, reply: consuming FileStatusReply) {
        answer(reply) { () throws(SystemError) in
            if let handle { try handle.descriptor.status() } else { try self.node(node).descriptor.status() }
        }
    }

    private func answer(_ reply: consuming FileStatusReply, _ body: () throws(SystemError) -> FileStatus) {
        let status: FileStatus
        do throws(SystemError) { status = try body() } catch { return reply.fail(error.code) }
        reply.status(status, timeout: PassthroughFileSystem.timeout)
    }

    func changeStatus(
        _ change: FileStatusChange, of node: KernelNode, handle: OpenFile?, reply: consuming FileStatusReply
    ) {
        answer(reply) { () throws(SystemError) in
            let node = try self.node(node)
            // First the owner, as its change clears set-ID bits of the mode.
            if change.owner != nil || change.group != nil {
                try node.descriptor.changeOwnerOfNamed(change.owner ?? uid_t.max, group: change.group ?? gid_t.max)
            }
            if let mode = change.mode {
                try SetIDCapability.raised { () throws(SystemError) in
                    try node.descriptor.changeModeOfNamed(mode & 0o7777)
                }
            }
            if let size = change.size { try resize(node, handle, to: size, clearsSetIDs: change.clearsSetIDs) }
            if change.accessTime != nil || change.modificationTime != nil {
                try changeTimes(of: node, change.accessTime.raw, change.modificationTime.raw)
            }
            return try node.descriptor.status()
        }
    }

    /// `utimensat(2)` with AT_EMPTY_PATH. The kernel sets the time of each file that was written when it forgets it.
    private func changeTimes(
        of node: Node, _ access: timespec, _ modification: timespec
    ) throws(SystemError) {
        var times = (access, modification)
        try systemCall {
            unsafe withUnsafeBytes(of: &times) { bytes in
                unsafe utimensat(
                    node.descriptor.number, "", bytes.baseAddress!.assumingMemoryBound(to: timespec.self),
                    platform_AT_EMPTY_PATH)
            }
        }
    }

    private func resize(
        _ node: Node, _ handle: OpenFile?, to size: Int64, clearsSetIDs: Bool
    ) throws(SystemError) {
        func resize() throws(SystemError) {
            if let handle { return try handle.descriptor.truncate(to: size) }
            try descriptors.open(node, flags: O_WRONLY).truncate(to: size)
        }
        // A worker has no CAP_FSETID, so the host clears the bits.
        if clearsSetIDs { try resize() } else { try SetIDCapability.raised(resize) }
    }

    func symbolicLinkTarget(of node: KernelNode, reply: consuming BytesReply) {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        do throws(SystemError) {
            let number = try self.node(node).descriptor.number
            let length = try systemCall {
                unsafe target.withUnsafeMutableBytes { bytes in
                    unsafe readlinkat(
                        number, "", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
                }
            }
            target.removeLast(target.count - length)
        } catch {
            return reply.fail(error.code)
        }
        reply.bytes(target)
    }

    // MARK: Extended attributes

    private func attributes(of node: KernelNode) throws(SystemError) -> (Node, AttributeHolder) {
        let node = try self.node(node)
        return (node, AttributeHolder(file: node.descriptor))
    }

    func extendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming ExtendedAttributeReply) {
        let value: [UInt8]
        do throws(SystemError) {
            let (node, attributes) = try attributes(of: node)
            value = try withExtendedLifetime(node) { () throws(SystemError) in try attributes.value(of: name) }
        } catch {
            return reply.fail(error.code)
        }
        reply.value(value)
    }

    func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply
    ) {
        reply.answer { () throws(SystemError) in
            let (node, attributes) = try attributes(of: node)
            try withExtendedLifetime(node) { () throws(SystemError) in
                try attributes.set(name, to: value, flags: flags)
            }
        }
    }

    func extendedAttributeNames(of node: KernelNode, reply: consuming ExtendedAttributeNamesReply) {
        let names: [[UInt8]]
        do throws(SystemError) {
            let (node, attributes) = try attributes(of: node)
            names = try withExtendedLifetime(node) { () throws(SystemError) in try attributes.names() }
        } catch {
            return reply.fail(error.code)
        }
        reply.names(names)
    }

    func removeExtendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            let (node, attributes) = try attributes(of: node)
            try withExtendedLifetime(node) { () throws(SystemError) in try attributes.remove(name) }
        }
    }

    // MARK: Inode flags

    /// Opens what has inode flags. A FIFO or a socket has none, and opening it would wait.
    private func openWithFlags(_ node: KernelNode) throws(SystemError) -> Descriptor {
        let node = try self.node(node)
        let kind = try node.descriptor.status().kind
        guard kind == .file || kind == .directory else { throw SystemError(code: ENOTTY) }
        return try descriptors.open(node, flags: O_RDONLY)
    }

    func inodeFlags(of node: KernelNode, reply: consuming InodeFlagsReply) {
        let flags: UInt32
        do throws(SystemError) { flags = try openWithFlags(node).inodeFlags() } catch { return reply.fail(error.code) }
        reply.flags(flags)
    }

    func setInodeFlags(_ flags: UInt32, mask: UInt32, of node: KernelNode, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            let file = try openWithFlags(node)
            try file.setInodeFlags(try file.inodeFlags() & ~mask | flags & mask)
        }
    }
}
