// The request that the calling thread serves, so that code far below can report an error with its caller.
//
// It costs nothing per request: each worker's thread remembers where its request lies, and the header is read from
// there.

public import Glibc

/// The kernel's request that the calling thread serves.
public struct CurrentRequest: Sendable {
    /// The kinds of request that reach file content.
    public enum Kind: Sendable {
        case open, create, read, write, changeStatus, allocate, seek, copy, synchronize
    }

    /// nil if the request reaches no content.
    public let kind: Kind?
    /// The thread that made the call; 0 for the kernel itself, and for a caller that is not visible here.
    public let thread: pid_t

    /// nil on a thread that serves no requests.
    public static var current: CurrentRequest? {
        // Set by the same thread, in a worker that outlives it.
        guard let header = unsafe RequestContext.header else { return nil }
        // struct fuse_in_header (linux/fuse.h): len, opcode: 4 bytes; unique, nodeid: 8; uid, gid, pid: 4.
        let kind = unsafe Kind(opcode: header.load(fromByteOffset: 4, as: UInt32.self))
        return CurrentRequest(
            kind: kind, thread: unsafe pid_t(bitPattern: header.load(fromByteOffset: 32, as: UInt32.self)))
    }

    /// The opcode (linux/fuse.h); 0 on a thread that serves no requests.
    static var opcode: UInt32 {
        // As in `current`.
        guard let header = unsafe RequestContext.header else { return 0 }
        return unsafe header.load(fromByteOffset: 4, as: UInt32.self)
    }

    /// Whether the request changes content for a caller without CAP_FSETID, so that set-ID bits are to be cleared: the
    /// flags of FUSE_HANDLE_KILLPRIV_V2, which libfuse 3.14 does not pass on. False on a thread that serves no
    /// requests.
    @inline(__always)
    public static var clearsSetIDs: Bool {
        switch opcode {
        // fuse_setattr_in.valid: FATTR_KILL_SUIDGID
        case 4: flag(11, at: 0)
        // fuse_open_in.open_flags: FUSE_OPEN_KILL_SUIDGID
        case 14: flag(0, at: 4)
        // fuse_write_in.write_flags: FUSE_WRITE_KILL_SUIDGID
        case 16: flag(2, at: 20)
        // fuse_create_in.open_flags: FUSE_OPEN_KILL_SUIDGID
        case 35: flag(0, at: 12)
        default: false
        }
    }

    /// Whether the request writes pages of the kernel's cache, for no call that waits for it: FUSE_WRITE_CACHE, in
    /// fuse_write_in.write_flags.
    @inline(__always)
    public static var writesPages: Bool { opcode == 16 && flag(0, at: 20) }

    /// A bit of the request's own structure (linux/fuse.h), which follows the header of 40 bytes. False on a thread
    /// that serves no requests.
    @inline(__always)
    private static func flag(_ bit: UInt32, at offset: Int) -> Bool {
        // As in `current`.
        guard let header = unsafe RequestContext.header else { return false }
        return unsafe header.load(fromByteOffset: 40 + offset, as: UInt32.self) >> bit & 1 == 1
    }
}

extension CurrentRequest.Kind {
    fileprivate init?(opcode: UInt32) {
        switch opcode {
        case 4: self = .changeStatus
        case 14: self = .open
        case 15: self = .read
        case 16: self = .write
        case 20: self = .synchronize
        case 35: self = .create
        case 43: self = .allocate
        case 46: self = .seek
        case 47: self = .copy
        default: return nil
        }
    }
}
