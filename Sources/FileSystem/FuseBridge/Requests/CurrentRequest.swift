// The request that the calling thread is at, for who learns deep below that something is wrong, and has to say for whom.
//
// Nothing is kept for it request by request: a worker's thread knows where its requests lie, and reads the header there.

import CPlatform
public import Glibc

/// A request of the kernel, on the thread that serves it.
public struct CurrentRequest: Sendable {
    /// What the kernel asks for, as far as it reaches content.
    public enum Kind: Sendable {
        case open, create, read, write, changeAttributes, allocate, seek, copy, synchronize
    }

    /// nil for what reaches no content.
    public let kind: Kind?
    /// A thread of who asks; 0 for the kernel itself, and for one that cannot be seen.
    public let process: pid_t

    /// nil on a thread that serves no requests.
    public static var current: CurrentRequest? {
        // It was given by a worker's own thread, to which this is, and lasts as long as the worker.
        guard let header = unsafe platform_remembered() else { return nil }
        // struct fuse_in_header: length, opcode, a number of 8 bytes, the node in 8, user, group, process (linux/fuse.h).
        let kind = unsafe Kind(opcode: header.load(fromByteOffset: 4, as: UInt32.self))
        return CurrentRequest(
            kind: kind, process: unsafe pid_t(bitPattern: header.load(fromByteOffset: 32, as: UInt32.self)))
    }

    /// Says where the requests of the calling thread lie, from now on until it ends.
    static func useHeader(at memory: UnsafeMutableRawPointer) {
        unsafe platform_remember(memory)
    }
}

extension CurrentRequest.Kind {
    fileprivate init?(opcode: UInt32) {
        switch opcode {
        case 4: self = .changeAttributes
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
