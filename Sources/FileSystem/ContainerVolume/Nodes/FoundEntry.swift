// A directory entry as a lookup found it.

import SandboxModel

/// An entry that a lookup found: the facts by which its node is known, or made.
struct FoundEntry {
    /// The inode number on the host, or one of ``SyntheticInode``.
    let inode: UInt64
    let kind: Node.Kind
    let zone: Zone
    let parent: Node
    let name: FileName
    /// The view of a directory in a container; nil for all else. A directory has that of its parent, unless it is a
    /// container's root.
    let view: ContainerView?

    init(
        inode: UInt64, kind: Node.Kind, zone: Zone, parent: Node, name: FileName, view: ContainerView? = nil
    ) {
        self.inode = inode
        self.kind = kind
        self.zone = zone
        self.parent = parent
        self.name = name
        self.view = kind == .directory ? view ?? parent.view : nil
    }
}
