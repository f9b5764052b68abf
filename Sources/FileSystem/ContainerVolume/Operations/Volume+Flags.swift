// The inode flags that an owner may set by chattr(1): `d`, a form of the backup mark, and `A` for access times.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// FS_NODUMP_FL of <linux/fs.h>: a form of the backup mark, which the host does not store.
    private static let noDump: UInt32 = 0x40
    /// FS_NOATIME_FL, which the host stores.
    private static let noAccessTimes: UInt32 = 0x80

    /// The flags of a node, of FS_NODUMP_FL and FS_NOATIME_FL.
    public func inodeFlags(of node: NodeID) throws(Fault) -> UInt32 {
        try keepingPlace(of: node) { (node) throws(Fault) in try flags(of: node) }
    }

    /// The caller keeps the node's place.
    private func flags(of node: Node) throws(Fault) -> UInt32 {
        let place = try openFiles.inodePlace(of: node)
        return try (marks.isExcluded(node) ? Volume.noDump : 0) | (place.flags & Volume.noAccessTimes)
    }

    /// - Throws: `refused` as for an attribute; EOPNOTSUPP for any other flag than those that an owner may set.
    public func setInodeFlags(_ flags: UInt32, of node: NodeID) throws(Fault) {
        try keepingPlace(of: node) { (node) throws(Fault) in
            let present = try self.flags(of: node)
            // chattr(1) sets the flags that it has read once more.
            if flags == present { return }
            // The kernel keeps the time of change of a regular file itself.
            defer { if node.kind != .file { kernelCache?.forgetStatus(of: node.id) } }
            let isOther = (flags ^ present) & ~Volume.noDump != 0
            if isOther { try node.zone.permit(.setFlags) }
            guard flags & ~(Volume.noDump | Volume.noAccessTimes) == 0 else { throw .system(.notSupported) }
            if (flags ^ present) & Volume.noDump != 0 {
                try marks.setExcluded(flags & Volume.noDump != 0, node, by: .setFlags)
            }
            guard isOther else { return }
            let place = try openFiles.inodePlace(of: node)
            try onHost { () throws(SystemError) in
                let file = try place.openForFlags()
                let kept = try file.inodeFlags() & ~Volume.noAccessTimes
                try file.setInodeFlags(kept | flags & Volume.noAccessTimes)
            }
        }
    }
}
