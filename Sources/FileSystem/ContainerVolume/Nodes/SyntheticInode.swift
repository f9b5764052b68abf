// Inode numbers of nodes that the host does not have. They lie above the numbers that a host gives.

import SandboxModel

enum SyntheticInode {
    /// The directory above all homes.
    static let device: UInt64 = 1 << 63

    /// `Groups` or `iCloud`.
    /// - Parameter home: the inode of the home's data container.
    static func containers(_ name: FileName, in home: UInt64) -> UInt64 {
        home | (name == HomeLayout.groups ? 1 << 62 : 1 << 61)
    }

    /// A `CACHEDIR.TAG`.
    static func cacheTag(in directory: UInt64) -> UInt64 { directory | 1 << 60 }
}
