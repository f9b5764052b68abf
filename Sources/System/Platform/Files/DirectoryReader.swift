// Reading directory entries with getdents64(2), from any position that an earlier read reported.

import CPlatform
import Glibc
public import SandboxModel

/// One entry as the host lists it.
public struct DirectoryEntry: Sendable {
    public let name: FileName
    public let inode: UInt64
    /// `DT_REG` and so on; `DT_UNKNOWN` (0) where the host does not tell.
    public let type: UInt8
    /// The position after this entry, valid for ``DirectoryReader/seek(_:)`` on any descriptor of the directory.
    public let next: Int64

    /// Relies on the host's `d_type`, which ext4, xfs, btrfs and tmpfs fill in.
    public var isDirectory: Bool { type == UInt8(DT_DIR) }
}

/// A cursor over a directory that is open for reading. `.` and `..` are left out.
///
/// An entry that is made or removed during the reading may be given or not. One thread at a time may use a reader.
public final class DirectoryReader {
    private let descriptor: Descriptor
    private let buffer: PageBuffer
    private var filled = 0
    private var position = 0

    /// - Parameter bufferSize: in bytes. getdents64(2) fails with EINVAL if not even one entry fits.
    public init(_ descriptor: consuming Descriptor, bufferSize: Int = 32 * 1024) {
        self.descriptor = descriptor
        buffer = PageBuffer(count: bufferSize)
    }

    /// `lseek(2)` to 0 or to an entry's ``DirectoryEntry/next``.
    public func seek(_ position: Int64) throws(SystemError) {
        filled = 0
        self.position = 0
        let number = descriptor.number
        try systemCall { lseek(number, off_t(position), SEEK_SET) }
    }

    /// An entry that may be `.` or `..`.
    public struct AnyEntry: Sendable {
        /// The name with a NUL behind it.
        public let terminatedName: [UInt8]
        public let inode: UInt64
        /// As ``DirectoryEntry/type``.
        public let type: UInt8
        public let next: Int64

        /// nil for `.` and `..`.
        public var name: FileName? { FileName(terminated: terminatedName) }
    }

    /// `getdents64(2)`, once for each buffer of entries.
    /// - Returns: nil after the last entry.
    public func next() throws(SystemError) -> DirectoryEntry? {
        while let entry = try nextOfAny() {
            guard let name = entry.name else { continue }
            return DirectoryEntry(name: name, inode: entry.inode, type: entry.type, next: entry.next)
        }
        return nil
    }

    /// As ``next()``, with `.` and `..`.
    public func nextOfAny() throws(SystemError) -> AnyEntry? {
        if position >= filled {
            let number = descriptor.number
            filled = try systemCall { unsafe platform_getdents64(number, buffer.base, buffer.count) }
            position = 0
            if filled == 0 { return nil }
        }
        // struct linux_dirent64: u64 d_ino, s64 d_off, u16 d_reclen, u8 d_type, char d_name[] (getdents(2)).
        let start = position
        let length = Int(buffer.load(UInt16.self, at: start + 16))
        position += length
        var end = start + 19
        while buffer.load(UInt8.self, at: end) != 0 { end += 1 }
        return AnyEntry(
            terminatedName: buffer.bytes(start + 19, count: end - start - 18),
            inode: buffer.load(UInt64.self, at: start),
            type: buffer.load(UInt8.self, at: start + 18),
            next: buffer.load(Int64.self, at: start + 8))
    }
}
