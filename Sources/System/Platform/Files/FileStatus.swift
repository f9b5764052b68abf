// File status, as stat(2) returns it.

public import Glibc

/// `struct stat` with the names that this project uses.
public struct FileStatus: Sendable {
    public var raw: stat

    public init(_ raw: stat) {
        self.raw = raw
    }

    /// The type in `st_mode`. A character and a block device are both `device`.
    ///
    /// The raw values of `file`, `directory` and `symbolicLink` are stored in the list of a bundle's digests
    /// (Format.md), so they must not change.
    public enum Kind: UInt8, Sendable {
        case file, directory, symbolicLink, fifo, socket, device
    }

    public var kind: Kind {
        switch raw.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .directory
        case S_IFLNK: .symbolicLink
        case S_IFIFO: .fifo
        case S_IFSOCK: .socket
        default: .device
        }
    }

    /// Device and inode number: the same for all names of a file.
    public struct Identity: Hashable, Sendable {
        let device: dev_t
        let inode: ino_t
    }

    public var identity: Identity { Identity(device: raw.st_dev, inode: raw.st_ino) }
    public var inode: UInt64 { UInt64(raw.st_ino) }
    public var mode: mode_t { raw.st_mode }
    /// With the set-user-ID, set-group-ID and sticky bits.
    public var permissions: mode_t { raw.st_mode & 0o7777 }
    public var owner: uid_t { raw.st_uid }
    public var group: gid_t { raw.st_gid }
    public var linkCount: UInt64 { UInt64(raw.st_nlink) }
    public var size: Int64 { Int64(raw.st_size) }
    /// Allocated space in units of 512 bytes.
    public var blocks: Int64 { Int64(raw.st_blocks) }
    public var modificationTime: timespec { raw.st_mtim }
}
