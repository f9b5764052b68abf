// The protocol of a filesystem: one requirement for each FUSE request, with the type of its reply.

public import Glibc
public import Platform

/// The number by which the kernel and the filesystem identify an inode (`nodeid` in linux/fuse.h). 1 is the root.
public struct KernelNode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let root = KernelNode(rawValue: 1)
}

/// The credentials of the thread whose system call became the request.
public struct RequestCaller: Sendable {
    public let user: uid_t
    public let group: gid_t
    /// The thread that made the call, as gettid(2) returns it; 0 for the kernel's own requests, and for a caller in a
    /// PID namespace that is not visible here.
    public let thread: pid_t
}

/// The arguments of a RENAME or RENAME2.
public struct RenameRequest: Sendable {
    /// The flags of renameat2(2): none, RENAME_NOREPLACE, RENAME_EXCHANGE. Others are refused before.
    public enum Mode: Sendable {
        case replacing, keeping, exchanging
    }

    public let name: [UInt8]
    public let parent: KernelNode
    public let newName: [UInt8]
    public let newParent: KernelNode
    public let mode: Mode
}

/// The node that MKNOD, MKDIR or CREATE asks for.
public struct NewNode: Sendable {
    public let name: [UInt8]
    public let parent: KernelNode
    /// With the file type, except for MKDIR.
    public let mode: mode_t
    public let caller: RequestCaller
}

/// The ranges of a COPY_FILE_RANGE. Offsets and count are in bytes.
public struct CopyRange<Handle> {
    public let source: Handle
    public let sourceOffset: Int64
    public let target: Handle
    public let targetOffset: Int64
    public let count: Int
}

/// A filesystem behind a ``Session``.
///
/// Requests arrive on several threads at once. Each is answered by consuming its reply, on any thread; a reply that is
/// dropped answers EIO. No requirement may wait for a notification: the kernel may take a lock for it that it holds for
/// the request. Names are bytes without a terminator, never empty, without `/`.
public protocol FileSystem: AnyObject, Sendable {
    /// An open file. The kernel passes it with each request on the descriptor, and closes it once.
    associatedtype Handle: AnyObject & Sendable

    func lookup(_ name: [UInt8], in parent: KernelNode, reply: consuming EntryReply)
    /// The kernel drops `count` of the references that it got by replies with an entry. There is no reply.
    func forget(_ node: KernelNode, count: UInt64)
    func status(of node: KernelNode, handle: Handle?, reply: consuming FileStatusReply)
    func changeStatus(
        _ change: FileStatusChange, of node: KernelNode, handle: Handle?, reply: consuming FileStatusReply)
    func symbolicLinkTarget(of node: KernelNode, reply: consuming BytesReply)

    func makeSymbolicLink(
        _ name: [UInt8], in parent: KernelNode, target: [UInt8], caller: RequestCaller, reply: consuming EntryReply)
    func makeNode(_ new: NewNode, reply: consuming EntryReply)
    func makeDirectory(_ new: NewNode, reply: consuming EntryReply)
    func removeFile(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply)
    func removeDirectory(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply)
    func rename(_ request: RenameRequest, reply: consuming DoneReply)
    func link(_ node: KernelNode, to name: [UInt8], in parent: KernelNode, reply: consuming EntryReply)

    /// - Parameter flags: of open(2), including O_TRUNC, without O_CREAT, O_EXCL and O_NOCTTY.
    func open(_ node: KernelNode, flags: Int32, reply: consuming OpenReply<Handle>)
    func create(_ new: NewNode, flags: Int32, reply: consuming CreateReply<Handle>)
    func read(_ handle: Handle, count: Int, from offset: Int64, reply: consuming DataReply)
    /// - Parameter bytes: valid during the call only.
    func write(_ handle: Handle, bytes: RawSpan, to offset: Int64, reply: consuming CountReply)
    /// Whether bytes that are read or written must not remain in memory: the bridge then zeroes the request or the
    /// reply that carried them.
    func mustZeroContent(_ handle: Handle) -> Bool
    /// The last descriptor is closed and the last mapping gone, or the mount has ended. There is no reply.
    func close(_ handle: Handle)
    func synchronize(_ handle: Handle, dataOnly: Bool, reply: consuming DoneReply)
    /// - Parameter mode: the FALLOC_FL_ flags of fallocate(2).
    func allocate(_ handle: Handle, mode: Int32, offset: Int64, count: Int64, reply: consuming DoneReply)
    /// SEEK_DATA, or SEEK_HOLE if `toHole`. The kernel handles the rest of lseek(2) itself.
    func seek(_ handle: Handle, from offset: Int64, toHole: Bool, reply: consuming PositionReply)
    func copy(_ range: CopyRange<Handle>, reply: consuming CountReply)

    /// Lists a directory. Directories have no handles: `position` is 0, or the `next` of an entry listed at any time
    /// before.
    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply)
    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply)
    func statistics(of node: KernelNode, reply: consuming StatisticsReply)

    func extendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming ExtendedAttributeReply)
    /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE or 0.
    func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply)
    func extendedAttributeNames(of node: KernelNode, reply: consuming ExtendedAttributeNamesReply)
    func removeExtendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply)

    /// FS_IOC_GETFLAGS, and the flags of FS_IOC_FSGETXATTR.
    func inodeFlags(of node: KernelNode, reply: consuming InodeFlagsReply)
    /// FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR: replaces the flags within `mask` by those of `flags`.
    func setInodeFlags(_ flags: UInt32, mask: UInt32, of node: KernelNode, reply: consuming DoneReply)

    /// The mount is gone and every handle closed. All references of the kernel are void.
    func ended()
}
