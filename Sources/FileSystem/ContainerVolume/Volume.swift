// The filesystem of one device, without a mount: what each system call does to the containers.

public import BackingStore
import Glibc
public import Platform
public import SandboxModel
import SandboxPolicy
import Synchronization

/// A filesystem over the containers of a device, or of one app. One volume stands behind one superblock.
///
/// Every call may come from any thread. Locks, outermost first: `names`; the open lock of one node; the locks of
/// ``EncryptedFile``; those of the node table and the directory cache. Reading and writing take none of the first
/// two: what they need was decided when the file was opened.
public final class Volume: Sendable {
    /// What the root shows.
    public enum View: Sendable {
        /// All homes, by bundle identifier: the mount that the daemon keeps to itself.
        case device
        /// One app's home.
        case home(Home)
    }

    let context: StoreContext
    /// The device's directory, for the host filesystem's figures.
    let device: SharedDescriptor
    let table: NodeTable
    let root: Node
    let directories = DirectoryCache()
    /// Held shared while a call relies on where nodes lie, exclusively while names go or move.
    let names = ReadWriteLock()
    /// Guard the opening and closing of files: a node always meets the same one.
    private let openLocks = (0..<64).map { _ in ReadWriteLock() }
    /// The device's restarts since this volume began: regular files of an older epoch are what was open before.
    let epoch = Atomic<UInt16>(0)
    /// Whether a restart is under way: what is open then is not written any more.
    let isRestarting = Atomic<Bool>(false)
    /// Whether the kernel may still know names of files that a restart has left behind.
    let isForgetting = Atomic<Bool>(false)
    let aliases = NodeAliases()
    /// Names of entries that were purged, of which the kernel still caches what they held.
    let withdrawn = Mutex<[(name: FileName, parent: Node)]>([])
    let homes = Mutex<[ContainerIdentifier: Home]>([:])
    let views = Mutex(ContainerViews())
    /// Whether several homes have shown a container, or may have. Nearly nowhere else anything is looked up for that.
    let hasShared = Atomic<Bool>(false)
    private let cache = Mutex<(any KernelCache)?>(nil)
    /// Who the daemon is: a superuser gives what it makes to the caller.
    let daemonUser = geteuid()
    let daemonGroup = getegid()

    public init(view: View, device: SharedDescriptor, context: StoreContext) {
        self.device = device
        self.context = context
        switch view {
        case .device:
            root = Node(
                id: .root, generation: 0, kind: .device, inode: Volume.deviceInode, zone: .device, parent: nil,
                name: nil)
        case .home(let home):
            // A container's directory that cannot be examined shows the same error at every later call.
            let inode = (try? home.data.descriptor.status().inode) ?? Volume.deviceInode
            root = Node(id: .root, generation: 0, kind: .home, inode: inode, zone: .home, parent: nil, name: nil)
            root.withRare { rare in
                rare.anchor = home.data
                rare.home = home
            }
        }
        table = NodeTable(root: root)
    }

    /// Inode numbers of directories that the host does not have lie above those that a host gives.
    static let deviceInode: UInt64 = 1 << 63
    static func inode(ofContainers name: FileName, home: UInt64) -> UInt64 {
        home | (name == Home.groupsDirectory ? 1 << 62 : 1 << 61)
    }

    /// Told when something changes that the kernel does not do itself.
    public var kernelCache: (any KernelCache)? {
        get { cache.withLock { $0 } }
        set { cache.withLock { $0 = newValue } }
    }

    // MARK: Homes

    /// Shows an app's home, or shows it anew after its containers changed.
    /// - Returns: as ``share(_:)`` does.
    @discardableResult
    public func show(_ home: Home) -> NewlyShared {
        homes.withLock { $0[home.app] = home }
        defer { showAnew(home) }
        return share(home)
    }

    private func showAnew(_ home: Home) {
        names.writing {
            guard let node = homeNode(home.data) else { return }
            // Whoever looks for a node's home holds either of the two locks.
            table.withNames(of: node) { node in node.withRare { $0.home = home } }
        }
    }

    /// Hides an app's home. What is open in it stays open.
    public func hide(_ app: ContainerIdentifier) {
        guard let home = homes.withLock({ $0.removeValue(forKey: app) }) else { return }
        // As long as the kernel knows the home, somebody may be in it.
        if homeNode(home.data) == nil { return endSharing(app) }
        if views.withLock({ $0.isShared(by: app) }) { forgetHidden(app) }
    }

    func home(named name: FileName) -> Home? {
        ContainerIdentifier(name.text).flatMap { app in homes.withLock { $0[app] } }
    }

    var allHomes: [Home] { homes.withLock { Array($0.values) }.sorted { $0.app < $1.app } }

    func homeNode(_ data: SharedDescriptor) -> Node? {
        root.kind == .home ? root : (try? data.descriptor.status().inode).flatMap { table.known(inode: $0) }
    }

    /// The home that a node belongs to.
    func home(of node: Node) -> Home? {
        var candidate: Node? = node
        while let next = candidate {
            if let home = next.rare?.home { return home }
            candidate = next.parent
        }
        return nil
    }

    // MARK: Nodes

    func node(_ id: NodeID) throws(Fault) -> Node {
        guard let node = table.node(id) else { throw .system(.stale) }
        return node
    }

    /// Whether a restart has come since the kernel learned of this file. It is to look the name up again then.
    func isPast(_ node: Node) -> Bool {
        node.kind == .file && node.id.epoch != epoch.load(ordering: .acquiring)
    }

    /// Whether the kernel may rely on a node's attributes. It may not on those of content that is closed to descriptors
    /// opened before, nor while the device is nearly full: it asks for them before each write, and hears then that there is none.
    public func keepsAttributes(of node: NodeID, _ status: FileStatus) -> Bool {
        guard status.kind == .file else { return status.kind != .directory || !isShared(node) }
        return context.deviceState.canOpen(.complete) && !context.space.isTight
            && node.epoch == epoch.load(ordering: .relaxed)
            && !isRestarting.load(ordering: .relaxed)
    }

    func openLock(of node: Node) -> ReadWriteLock {
        // A directory has several nodes, and one lock.
        openLocks[Int((node.isDirectory ? node.inode : node.id.slot) % UInt64(openLocks.count))]
    }

    public func forget(_ node: NodeID, count: UInt64) {
        for app in table.forget(node, count: count) where homes.withLock({ $0[app] == nil }) { endSharing(app) }
    }

    /// Nodes in memory, for the daemon's status.
    public var knownNodes: Int { table.count }

    // MARK: Rules

    /// Asks the policy, on the facts that the caller has gathered under the lock under which it acts.
    func permit(_ operation: Operation, on zone: Zone) throws(Fault) {
        if let rule = SandboxPolicy.refusal(of: operation, in: zone) { throw .refused(rule) }
    }

    func permit(name: FileName, in directory: Node) throws(Fault) {
        if isCacheTag(name, in: directory) { throw .refused(.cacheTag) }
        if let rule = SandboxPolicy.refusal(ofName: name, in: directory.zone) { throw .refused(rule) }
    }
}
