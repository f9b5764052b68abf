// One inode as the kernel knows it.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A node that the kernel has looked up, or that is above one.
///
/// A node costs no descriptor: it is found again by its directory and name. What is guarded by what:
/// - `parent`, `name`, `rare`, `zone`, `view`: change under the volume's names lock held exclusively, or, where a further
///   name becomes known, under the table's lock; read under either. A name does not move while the names lock is held.
/// - `lookups`, `children`: the table's lock.
/// - `open`, `isStale`, `isNameless`: the volume's open lock of the node.
/// - `directory`: the directory cache's lock.
final class Node: @unchecked Sendable {
    enum Kind: UInt8 {
        case file, directory, symbolicLink, special
        /// The directory above all homes.
        case device
        /// An app's home, whose entries come from several containers.
        case home
        /// `Groups` and `iCloud`.
        case containers
        /// A `CACHEDIR.TAG` that the mount shows.
        case cacheTag
    }

    // In an order that leaves few gaps: there may be a million of these.
    let id: NodeID
    /// Inode number on the host, or one made up for a directory that is not on the host.
    let inode: UInt64
    let generation: UInt32
    var children: UInt32 = 0
    /// Of a directory.
    let names = GivenNames()
    let kind: Kind
    var zone: Zone
    /// Whether the kernel has a wrong idea of the file's length, so that it must look the name up again.
    var isStale = false
    /// Whether the file has lost its last name: what it holds counts only while it is open.
    var isNameless = false
    /// Changes under the open lock of the node.
    let protection = KnownClass()

    var parent: Node?
    var name: FileName?
    /// Of a directory of a container that several homes may show: for whom this is its node.
    var view: ContainerView?
    var rare: Rare?

    var lookups: UInt64 = 0

    var open: OpenFile?
    var directory: SharedDescriptor?

    /// What few nodes have.
    final class Rare {
        /// Further names of a hard-linked file that the kernel knows.
        var furtherNames: [(parent: Node, name: FileName)] = []
        /// The container's own directory, for a node that is the root of one.
        var anchor: SharedDescriptor?
        /// Names the node after its last known name went.
        var orphan: SharedDescriptor?
        /// Its status when that name went.
        var lastStatus: FileStatus?
        /// The home, for the nodes that stand for one, and for a bundle's directory that an update has replaced.
        var home: Home?
        /// Whether it is a directory that was removed: nothing is found or made in it.
        var isRemoved = false
        /// Of such a directory, whom ``Volume/sendsBack(_:from:)`` has sent back.
        var sentBack: Set<pid_t> = []
        /// Of the bundle: which entry of its list of digests this is.
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
    }

    var isDirectory: Bool {
        switch kind {
        case .directory, .device, .home, .containers: true
        case .file, .symbolicLink, .special, .cacheTag: false
        }
    }

    /// Whether it has a protection class: a file's own, or the one that a directory gives to what is made in it. The
    /// bundle is stored as it is, and the top level and what is put together below it hold nothing of their own.
    var hasProtection: Bool { (kind == .file || kind == .directory) && zone != .bundle }

    /// Whether its content is shown in every state of the device.
    var isStoredAsItIs: Bool { zone == .bundle || zone == .cacheTag }

    /// Whether extended attributes can be kept with it.
    var holdsAttributes: Bool { kind == .file || kind == .directory || kind == .home }

    /// The rule that refuses attributes to what holds none.
    var ruleAboutAttributes: Rule { kind == .cacheTag ? .cacheTag : .attributeHolder }

    func withRare<Result>(_ body: (Rare) -> Result) -> Result {
        if rare == nil { rare = Rare() }
        return body(rare!)
    }
}
