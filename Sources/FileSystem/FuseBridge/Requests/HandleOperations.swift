// Requests that carry or make a handle: converts the kernel's number to the filesystem's object, then calls the
// filesystem.

import CFuse
import Glibc
import Platform

extension FileStatusChange {
    /// - Parameter set: the FUSE_SET_ATTR_ flags of the values that count.
    init(_ values: stat, set: Int32) {
        self.init()
        func has(_ flag: Int32) -> Bool { set & flag != 0 }
        if has(FUSE_SET_ATTR_MODE) { mode = values.st_mode }
        if has(FUSE_SET_ATTR_UID) { owner = values.st_uid }
        if has(FUSE_SET_ATTR_GID) { group = values.st_gid }
        if has(FUSE_SET_ATTR_SIZE) {
            size = Int64(values.st_size)
            clearsSetIDs = CurrentRequest.clearsSetIDs
        }
        setsChangeTime = has(FUSE_SET_ATTR_CTIME)
        if has(FUSE_SET_ATTR_ATIME) { accessTime = .at(values.st_atim) }
        if has(FUSE_SET_ATTR_ATIME_NOW) { accessTime = .now }
        if has(FUSE_SET_ATTR_MTIME) { modificationTime = .at(values.st_mtim) }
        if has(FUSE_SET_ATTR_MTIME_NOW) { modificationTime = .now }
    }
}

extension FileSystem {
    @inline(__always)
    private func handle(_ number: UInt64) -> Handle? {
        HandleReference.object(number, as: Handle.self)
    }

    func serveStatus(_ request: fuse_req_t, _ node: KernelNode, _ number: UInt64) {
        status(of: node, handle: handle(number), reply: FileStatusReply(token: unsafe ReplyToken(request)))
    }

    func serveStatusChange(
        _ request: fuse_req_t, _ node: KernelNode, _ change: FileStatusChange, _ number: UInt64
    ) {
        changeStatus(
            change, of: node, handle: handle(number), reply: FileStatusReply(token: unsafe ReplyToken(request)))
    }

    func serveOpen(_ request: fuse_req_t, _ node: KernelNode, _ flags: Int32) {
        open(
            node, flags: flags,
            reply: OpenReply(token: unsafe ReplyToken(request), session: unsafe Session.of(request)))
    }

    func serveCreate(_ request: fuse_req_t, _ new: NewNode, _ flags: Int32) {
        create(
            new, flags: flags,
            reply: CreateReply(token: unsafe ReplyToken(request), session: unsafe Session.of(request)))
    }

    func serveRead(_ request: fuse_req_t, _ number: UInt64, _ count: Int, _ offset: Int64) {
        let reply = DataReply(token: unsafe ReplyToken(request), memory: RingEntry.current?.content(count))
        guard let handle = handle(number) else { return reply.fail(EBADF) }
        read(handle, count: count, from: offset, reply: reply)
        // The filesystem zeroes its own buffers; /dev/fuse has the reply in no other.
        if let entry = RingEntry.current, mustZeroContent(handle) { entry.mustZero = true }
    }

    func serveWrite(_ request: fuse_req_t, _ number: UInt64, _ bytes: RawSpan, _ offset: Int64) {
        let reply = CountReply(token: unsafe ReplyToken(request))
        guard let handle = handle(number) else { return reply.fail(EBADF) }
        write(handle, bytes: bytes, to: offset, reply: reply)
        guard mustZeroContent(handle) else { return }
        // The reply lies where the bytes were, until the kernel has it.
        if let entry = RingEntry.current {
            entry.mustZero = true
            return
        }
        unsafe bytes.withUnsafeBytes { bytes in
            // The bytes lie in the worker's own memory, which nothing else reads meanwhile.
            unsafe explicit_bzero(UnsafeMutableRawPointer(mutating: bytes.baseAddress!), bytes.count)
        }
    }

    func serveRelease(_ request: fuse_req_t, _ number: UInt64) {
        let reply = DoneReply(token: unsafe ReplyToken(request))
        let session = unsafe Session.of(request)
        if let handle = HandleReference.end(number, as: Handle.self, in: session) { close(handle) }
        reply.done()
    }

    /// Closes a handle for which the kernel sent no RELEASE before the connection broke.
    func closeAbandoned(_ number: UInt64, in session: Session) {
        if let handle = HandleReference.end(number, as: Handle.self, in: session) { close(handle) }
    }

    func serveSynchronize(_ request: fuse_req_t, _ number: UInt64, _ dataOnly: Bool) {
        let reply = DoneReply(token: unsafe ReplyToken(request))
        guard let handle = handle(number) else { return reply.fail(EBADF) }
        synchronize(handle, dataOnly: dataOnly, reply: reply)
    }

    func serveAllocate(
        _ request: fuse_req_t, _ number: UInt64, _ mode: Int32, _ offset: Int64, _ count: Int64
    ) {
        let reply = DoneReply(token: unsafe ReplyToken(request))
        guard let handle = handle(number) else { return reply.fail(EBADF) }
        allocate(handle, mode: mode, offset: offset, count: count, reply: reply)
    }

    func serveSeek(_ request: fuse_req_t, _ number: UInt64, _ offset: Int64, _ whence: Int32) {
        let reply = PositionReply(token: unsafe ReplyToken(request))
        guard let handle = handle(number) else { return reply.fail(EBADF) }
        guard whence == SeekOrigin.data || whence == SeekOrigin.hole else { return reply.fail(EINVAL) }
        seek(handle, from: offset, toHole: whence == SeekOrigin.hole, reply: reply)
    }

    func serveCopy(_ request: fuse_req_t, _ range: CopyRange<UInt64>) {
        let reply = CountReply(token: unsafe ReplyToken(request))
        guard let source = handle(range.source), let target = handle(range.target) else { return reply.fail(EBADF) }
        copy(
            CopyRange(
                source: source, sourceOffset: range.sourceOffset, target: target, targetOffset: range.targetOffset,
                count: range.count),
            reply: reply)
    }

    /// Serves the four ioctls of inode flags, and no other. The kernel turns every way to read or set the flags into
    /// one of these, on a file that it opens for the purpose (fs/fuse/ioctl.c, fuse_fileattr_get).
    func serveControl(
        _ request: fuse_req_t, _ node: KernelNode, _ command: UInt32, _ input: UnsafeRawBufferPointer,
        _ outputSize: Int
    ) {
        let token = unsafe ReplyToken(request)
        switch (command, input.count) {
        case (ControlCommand.getFlags, _) where outputSize >= MemoryLayout<UInt32>.size:
            inodeFlags(of: node, reply: InodeFlagsReply(token: token, extended: false))
        case (ControlCommand.getExtended, _) where outputSize >= InodeFlags.extendedSize:
            inodeFlags(of: node, reply: InodeFlagsReply(token: token, extended: true))
        case (ControlCommand.setFlags, MemoryLayout<UInt32>.size...):
            let flags = unsafe input.loadUnaligned(as: UInt32.self)
            setInodeFlags(flags, mask: .max, of: node, reply: DoneReply(token: token, toControl: true))
        case (ControlCommand.setExtended, InodeFlags.extendedSize...):
            // Extent sizes and project ids are not supported: they can only be set to 0.
            let others = [4, 12, 16].map { unsafe input.loadUnaligned(fromByteOffset: $0, as: UInt32.self) }
            guard others == [0, 0, 0] else { return token.fail(EOPNOTSUPP) }
            let flags = unsafe InodeFlags.plain(input.loadUnaligned(as: UInt32.self))
            setInodeFlags(flags, mask: InodeFlags.common, of: node, reply: DoneReply(token: token, toControl: true))
        default:
            token.fail(ENOTTY)
        }
    }
}

/// SEEK_DATA and SEEK_HOLE of lseek(2).
private enum SeekOrigin {
    static let data: Int32 = 3
    static let hole: Int32 = 4
}

/// FS_IOC_* of <linux/fs.h>, macros that Swift does not import.
private enum ControlCommand {
    static let getFlags: UInt32 = 0x8008_6601
    static let setFlags: UInt32 = 0x4008_6602
    static let getExtended: UInt32 = 0x801C_581F
    static let setExtended: UInt32 = 0x401C_5820
}
