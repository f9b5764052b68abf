// One inode as the kernel knows it.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A node that the kernel has looked up, or that is above one.
///
/// A node costs no descriptor: its directory and name find it again.
///
/// Lock rule, by field:
/// - `parent`, `name`, `rare`, `zone`, `view`, `scope`: change under the volume's `names` held exclusively, or, where a
///   further name becomes known, under the table's lock; read under either. No directory moves while `names` is held.
///   `parent`, `name` and `rare` of a file change under its place's lock (``EntryLocks``) and the table's, and are read
///   under either.
/// - `lookups`, `children`: the table's lock.
/// - `open`, `isStale`, `isNameless`: the node's open lock (``OpenFileTable``).
/// - `directory`: the directory cache's lock.
final class Node: @unchecked Sendable {
    enum Kind: UInt8 {
        case file, directory, symbolicLink, special
        /// The directory above all homes.
        case device
        /// An app's home, with entries of several containers.
        case home
        /// `Groups` and `iCloud`.
        case containers
        /// A `CACHEDIR.TAG` that the mount shows.
        case cacheTag
    }

    // In an order that leaves few gaps: there may be a million of these.
    let id: NodeID
    /// Inode number on the host, or a ``SyntheticInode``.
    let inode: UInt64
    let generation: UInt32
    var children: UInt32 = 0
    /// Names in this directory that are not durable yet.
    let givenNames = GivenNames()
    let kind: Kind
    var zone: Zone
    /// Whether the kernel has a wrong length of the file, so that it must look the name up again.
    var isStale = false
    /// Whether the file has lost its last name: its space counts only while it is open.
    var isNameless = false
    /// Changes under the open lock of the node.
    let protection = KnownClass()

    var parent: Node?
    var name: FileName?
    /// For a directory of a container that several homes may show: the home that this node belongs to.
    var view: ContainerView?
    /// Of a directory; nil for all else.
    var scope: Scope?
    var rare: Rare?

    var lookups: UInt64 = 0

    var open: OpenFile?
    var directory: SharedDescriptor?

    /// Fields that few nodes need.
    final class Rare {
        /// Further known names of a hard-linked file.
        var furtherNames = NodeNames()
        /// The container's own directory, for a node that is the root of one.
        var anchor: SharedDescriptor?
        /// Reaches the node after its last known name went.
        var orphan: SharedDescriptor?
        /// Its status when that name went.
        var lastStatus: FileStatus?
        /// Whether the node is a removed directory: nothing is found or made in it.
        var isRemoved = false
        /// The threads that ``Volume/sendsBack(_:from:)`` has sent back from such a directory.
        var sentBack: Set<pid_t> = []
        /// The node's number in the bundle's list of digests.
        var sealed: Int?
    }

    init(
        id: NodeID, generation: UInt32, kind: Kind, inode: UInt64, zone: Zone, parent: Node?, name: FileName?,
        view: ContainerView? = nil
    ) {
        self.id = id
        self.generation = generation
        self.kind = kind
        self.inode = inode
        self.zone = zone
        self.parent = parent
        self.name = name
        self.view = view
        if isDirectory { scope = Scope.ofDirectory(self) }
    }

    /// Releases a chain of directories one after the other: the last node of a deep one may be the last to go, and each
    /// would release the next on the stack.
    deinit {
        var above = parent
        parent = nil
        while above != nil, isKnownUniquelyReferenced(&above) {
            let next = above?.parent
            above?.parent = nil
            above = next
        }
    }

    var isDirectory: Bool {
        switch kind {
        case .directory, .device, .home, .containers: true
        case .file, .symbolicLink, .special, .cacheTag: false
        }
    }

    /// Whether it is reached on the host by a directory and a name, as far as it has one.
    var hasEntryOnHost: Bool {
        switch kind {
        case .file, .directory, .symbolicLink, .special: rare?.anchor == nil
        case .device, .home, .containers, .cacheTag: false
        }
    }

    /// Whether it has a protection class: a file's own, or the class that a directory gives to new entries. The bundle
    /// is stored in plain, and the top level, `Groups` and `iCloud` hold no content of their own.
    var hasProtection: Bool { (kind == .file || kind == .directory) && zone != .bundle }

    /// Whether the content is stored in plain, and shown in every state of the device.
    var isPlain: Bool { zone == .bundle || zone == .cacheTag }

    /// Whether extended attributes can be kept with it.
    var holdsAttributes: Bool { kind == .file || kind == .directory || kind == .home }

    /// The rule that refuses attributes to a node that holds none.
    var ruleAboutAttributes: Rule { kind == .cacheTag ? .cacheTag : .attributeHolder }

    func withRare<Result>(_ body: (Rare) -> Result) -> Result {
        if rare == nil { rare = Rare() }
        return body(rare!)
    }
}
