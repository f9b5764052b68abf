// What a filesystem answers to the kernel: one requirement for each request, each with the one reply it takes.

public import Glibc

/// The number by which the kernel and the filesystem name one inode. 1 is the root.
public struct KernelNode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let root = KernelNode(rawValue: 1)
}

/// The credentials of the process whose system call became the request.
public struct RequestCaller: Sendable {
    public let user: uid_t
    public let group: gid_t
    /// The number of the thread that made the call, as gettid(2) has it; 0 for the kernel's own requests, and for a
    /// caller in a PID namespace that cannot be seen from here.
    public let process: pid_t
}

/// What setattr changes; nil leaves a value as it is.
public struct FileStatusChange: Sendable {
    public enum Time: Sendable {
        case now
        case at(timespec)
    }

    public var mode: mode_t?
    public var owner: uid_t?
    public var group: gid_t?
    public var size: Int64?
    public var accessTime: Time?
    public var modificationTime: Time?
}

/// RENAME_NOREPLACE and RENAME_EXCHANGE of renameat2(2); other flags never arrive.
public enum RenameRequest: Sendable {
    case replacing, keeping, exchanging
}

/// A filesystem behind a ``Session``.
///
/// Requests arrive on several threads at once. Each is answered by consuming its reply, on any thread; a reply that
/// is dropped answers EIO. Nothing here may wait for a notification: the kernel may hold the lock that it takes.
/// Names are bytes without a terminator, never empty, without `/`.
public protocol FileSystem: AnyObject, Sendable {
    /// An open file. The kernel gives it back with each request on the descriptor, and closes it once.
    associatedtype Handle: AnyObject & Sendable

    func lookup(_ name: [UInt8], in parent: KernelNode, reply: consuming EntryReply)
    /// The kernel drops `count` of the references that replies with an entry gave it. Nothing is answered.
    func forget(_ node: KernelNode, count: UInt64)
    func status(of node: KernelNode, handle: Handle?, reply: consuming FileStatusReply)
    func changeStatus(
        _ change: FileStatusChange, of node: KernelNode, handle: Handle?, reply: consuming FileStatusReply)
    func symbolicLinkTarget(of node: KernelNode, reply: consuming BytesReply)

    func makeSymbolicLink(
        _ name: [UInt8], in parent: KernelNode, target: [UInt8], caller: RequestCaller, reply: consuming EntryReply)
    func makeNode(
        _ name: [UInt8], in parent: KernelNode, mode: mode_t, caller: RequestCaller, reply: consuming EntryReply)
    func makeDirectory(
        _ name: [UInt8], in parent: KernelNode, mode: mode_t, caller: RequestCaller, reply: consuming EntryReply)
    func removeFile(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply)
    func removeDirectory(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply)
    func rename(
        _ name: [UInt8], in parent: KernelNode, to newName: [UInt8], in newParent: KernelNode, mode: RenameRequest,
        reply: consuming DoneReply)
    func link(_ node: KernelNode, to name: [UInt8], in parent: KernelNode, reply: consuming EntryReply)

    /// - Parameter flags: those of open(2); O_TRUNC is among them, O_CREAT, O_EXCL and O_NOCTTY are not.
    func open(_ node: KernelNode, flags: Int32, reply: consuming OpenReply<Handle>)
    func create(
        _ name: [UInt8], in parent: KernelNode, mode: mode_t, flags: Int32, caller: RequestCaller,
        reply: consuming CreateReply<Handle>)
    func read(_ handle: Handle, count: Int, from offset: Int64, reply: consuming DataReply)
    /// The bytes are the kernel's, lent for the time of the call.
    func write(_ handle: Handle, bytes: RawSpan, to offset: Int64, reply: consuming CountReply)
    /// Whether bytes that were written must not stay in memory: the bridge then zeroes the request that brought them.
    func mustZeroWrites(_ handle: Handle) -> Bool
    /// The last descriptor is closed and the last mapping gone, or the mount has ended. Nothing is answered.
    func close(_ handle: Handle)
    func synchronize(_ handle: Handle, dataOnly: Bool, reply: consuming DoneReply)
    /// - Parameter mode: the FALLOC_FL_ flags of fallocate(2).
    func allocate(_ handle: Handle, mode: Int32, offset: Int64, count: Int64, reply: consuming DoneReply)
    /// SEEK_DATA, or SEEK_HOLE when `toHole`; the kernel does the rest of lseek(2) by itself.
    func seek(_ handle: Handle, from offset: Int64, toHole: Bool, reply: consuming PositionReply)
    func copy(
        from source: Handle, at offset: Int64, to target: Handle, at targetOffset: Int64, count: Int,
        reply: consuming CountReply)

    /// Directories have no handles: `position` is 0 or what an earlier entry was listed with, at any later time.
    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply)
    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply)
    func statistics(of node: KernelNode, reply: consuming StatisticsReply)

    func extendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming ExtendedAttributeReply)
    /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE or 0.
    func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply)
    func extendedAttributeNames(of node: KernelNode, reply: consuming ExtendedAttributeNamesReply)
    func removeExtendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply)

    /// FS_IOC_GETFLAGS, and FS_IOC_FSGETXATTR as far as flags go.
    func inodeFlags(of node: KernelNode, reply: consuming InodeFlagsReply)
    /// FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR: the flags within `mask` become those of `flags`.
    func setInodeFlags(_ flags: UInt32, mask: UInt32, of node: KernelNode, reply: consuming DoneReply)

    /// The mount is gone: every handle has been closed, and what the kernel remembered is forgotten.
    func ended()
}
