// The table of libfuse callbacks: each converts a request's arguments and calls the filesystem.
//
// C callbacks cannot be generic, so the session keeps an existential; requests with a handle continue in an extension
// of FileSystem, where the handle's type is known. The table is built in nonisolated functions: a callback isolated to
// the main actor would trap on a worker's thread.

import CFuse
import CPlatform
import Glibc
import Platform

extension Session {
    @inline(__always)
    static func of(_ request: fuse_req_t) -> Session {
        // The session is its own userdata, and outlives its workers.
        unsafe Unmanaged<Session>.fromOpaque(fuse_req_userdata(request)).takeUnretainedValue()
    }
}

@inline(__always)
private func fileSystem(_ request: fuse_req_t?) -> any FileSystem {
    unsafe Session.of(request!).fileSystem
}

@inline(__always)
private func token(_ request: fuse_req_t?) -> ReplyToken {
    unsafe ReplyToken(request!)
}

@inline(__always)
private func node(_ number: fuse_ino_t) -> KernelNode {
    KernelNode(rawValue: number)
}

/// Copies a NUL-terminated string of the request, which is valid during the callback only.
@inline(__always)
private func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
}

private func caller(_ request: fuse_req_t?) -> RequestCaller {
    unsafe RequestCaller(of: request!)
}

private func newNode(
    _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t
) -> NewNode {
    unsafe NewNode(name: bytes(name), parent: node(parent), mode: mode, caller: caller(request))
}

nonisolated func makeOperations() -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    addSessionOperations(&table)
    addNameOperations(&table)
    addDirectoryOperations(&table)
    addFileOperations(&table)
    addExtendedAttributeOperations(&table)
    return table
}

nonisolated private func addSessionOperations(_ table: inout fuse_lowlevel_ops) {
    unsafe table.`init` = { session, connection in
        let session = unsafe Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue()
        unsafe session.negotiate(&connection!.pointee)
    }
    unsafe table.forget = { request, number, count in
        unsafe fileSystem(request).forget(node(number), count: count)
        unsafe fuse_reply_none(request)
    }
    unsafe table.forget_multi = { request, count, list in
        let fileSystem = unsafe fileSystem(request)
        for index in 0..<count {
            let item = unsafe list![index]
            fileSystem.forget(node(item.ino), count: item.nlookup)
        }
        unsafe fuse_reply_none(request)
    }
    unsafe table.statfs = { request, number in
        unsafe fileSystem(request).statistics(of: node(number), reply: StatisticsReply(token: token(request)))
    }
}

nonisolated private func addNameOperations(_ table: inout fuse_lowlevel_ops) {
    unsafe table.lookup = { request, parent, name in
        unsafe fileSystem(request).lookup(bytes(name), in: node(parent), reply: EntryReply(token: token(request)))
    }
    unsafe table.readlink = { request, number in
        unsafe fileSystem(request).symbolicLinkTarget(of: node(number), reply: BytesReply(token: token(request)))
    }
    unsafe table.symlink = { request, target, parent, name in
        unsafe fileSystem(request).makeSymbolicLink(
            bytes(name), in: node(parent), target: bytes(target), caller: caller(request),
            reply: EntryReply(token: token(request)))
    }
    unsafe table.mknod = { request, parent, name, mode, _ in
        unsafe fileSystem(request).makeNode(
            newNode(request, parent, name, mode), reply: EntryReply(token: token(request)))
    }
    unsafe table.mkdir = { request, parent, name, mode in
        unsafe fileSystem(request).makeDirectory(
            newNode(request, parent, name, mode), reply: EntryReply(token: token(request)))
    }
    unsafe table.unlink = { request, parent, name in
        unsafe fileSystem(request).removeFile(bytes(name), in: node(parent), reply: DoneReply(token: token(request)))
    }
    unsafe table.rmdir = { request, parent, name in
        unsafe fileSystem(request).removeDirectory(
            bytes(name), in: node(parent), reply: DoneReply(token: token(request)))
    }
    unsafe table.rename = { request, parent, name, newParent, newName, flags in
        let mode: RenameRequest.Mode
        switch Int(flags) {
        case 0: mode = .replacing
        case Int(platform_RENAME_NOREPLACE): mode = .keeping
        case Int(platform_RENAME_EXCHANGE): mode = .exchanging
        default: return unsafe token(request).fail(EINVAL)
        }
        unsafe fileSystem(request).rename(
            RenameRequest(
                name: bytes(name), parent: node(parent), newName: bytes(newName), newParent: node(newParent),
                mode: mode),
            reply: DoneReply(token: token(request)))
    }
    unsafe table.link = { request, number, parent, name in
        unsafe fileSystem(request).link(
            node(number), to: bytes(name), in: node(parent), reply: EntryReply(token: token(request)))
    }
}

nonisolated private func addDirectoryOperations(_ table: inout fuse_lowlevel_ops) {
    // Directories need no handle. After one ENOSYS the kernel opens them itself, caches their entries and keeps that
    // cache (fs/fuse/file.c, fuse_file_open).
    unsafe table.opendir = { request, _, _ in unsafe token(request).fail(ENOSYS) }
    unsafe table.readdir = { request, number, size, offset, _ in
        unsafe fileSystem(request).list(
            node(number), from: Int64(offset),
            reply: DirectoryReply(token: token(request), withEntries: false, capacity: size))
    }
    unsafe table.readdirplus = { request, number, size, offset, _ in
        unsafe fileSystem(request).list(
            node(number), from: Int64(offset),
            reply: DirectoryReply(token: token(request), withEntries: true, capacity: size))
    }
    unsafe table.fsyncdir = { request, number, dataOnly, _ in
        unsafe fileSystem(request).synchronizeDirectory(
            node(number), dataOnly: dataOnly != 0, reply: DoneReply(token: token(request)))
    }
}

nonisolated private func addFileOperations(_ table: inout fuse_lowlevel_ops) {
    unsafe table.getattr = { request, number, information in
        unsafe fileSystem(request).serveStatus(request!, node(number), information?.pointee.fh ?? 0)
    }
    unsafe table.setattr = { request, number, values, set, information in
        let change = unsafe FileStatusChange(values!.pointee, set: set)
        unsafe fileSystem(request).serveStatusChange(request!, node(number), change, information?.pointee.fh ?? 0)
    }
    unsafe table.open = { request, number, information in
        unsafe fileSystem(request).serveOpen(request!, node(number), information!.pointee.flags)
    }
    unsafe table.create = { request, parent, name, mode, information in
        unsafe fileSystem(request).serveCreate(
            request!, newNode(request, parent, name, mode), information!.pointee.flags)
    }
    unsafe table.read = { request, _, size, offset, information in
        unsafe fileSystem(request).serveRead(request!, information!.pointee.fh, size, Int64(offset))
    }
    unsafe table.write = { request, _, payload, size, offset, information in
        // The payload lies in the worker's memory, which is not reused before this returns.
        let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(payload!), byteCount: size)
        unsafe fileSystem(request).serveWrite(request!, information!.pointee.fh, bytes, Int64(offset))
    }
    // FLUSH has no callback: libfuse answers ENOSYS, and the kernel never sends it again. It still writes dirty pages
    // out at close(2).
    unsafe table.release = { request, _, information in
        unsafe fileSystem(request).serveRelease(request!, information!.pointee.fh)
    }
    unsafe table.fsync = { request, _, dataOnly, information in
        unsafe fileSystem(request).serveSynchronize(request!, information!.pointee.fh, dataOnly != 0)
    }
    unsafe table.fallocate = { request, _, mode, offset, length, information in
        unsafe fileSystem(request).serveAllocate(
            request!, information!.pointee.fh, mode, Int64(offset), Int64(length))
    }
    unsafe table.lseek = { request, _, offset, whence, information in
        unsafe fileSystem(request).serveSeek(request!, information!.pointee.fh, Int64(offset), whence)
    }
    unsafe table.copy_file_range = { request, _, offset, source, _, targetOffset, target, count, flags in
        guard flags == 0 else { return unsafe token(request).fail(EINVAL) }
        let range = unsafe CopyRange(
            source: source!.pointee.fh, sourceOffset: Int64(offset), target: target!.pointee.fh,
            targetOffset: Int64(targetOffset), count: count)
        unsafe fileSystem(request).serveCopy(request!, range)
    }
}

nonisolated private func addExtendedAttributeOperations(_ table: inout fuse_lowlevel_ops) {
    unsafe table.getxattr = { request, number, name, size in
        unsafe fileSystem(request).extendedAttribute(
            bytes(name), of: node(number), reply: ExtendedAttributeReply(token: token(request), capacity: size))
    }
    unsafe table.setxattr = { request, number, name, value, size, flags in
        // Copied: valid during the callback only.
        let value = unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: size))
        unsafe fileSystem(request).setExtendedAttribute(
            bytes(name), to: value, flags: flags, of: node(number), reply: DoneReply(token: token(request)))
    }
    unsafe table.listxattr = { request, number, size in
        unsafe fileSystem(request).extendedAttributeNames(
            of: node(number), reply: ExtendedAttributeNamesReply(token: token(request), capacity: size))
    }
    unsafe table.removexattr = { request, number, name in
        unsafe fileSystem(request).removeExtendedAttribute(
            bytes(name), of: node(number), reply: DoneReply(token: token(request)))
    }
    unsafe table.ioctl = { request, number, command, _, _, _, input, inputSize, outputSize in
        let input = unsafe UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : inputSize)
        unsafe fileSystem(request).serveControl(
            request!, node(number), UInt32(truncatingIfNeeded: command), input, outputSize)
    }
}
