// The filesystem of one device, without a mount: the effect of each system call on the containers.

public import BackingStore
public import Platform
public import SandboxModel

/// A filesystem over the containers of a device, or of one app. One volume stands behind one superblock.
///
/// The volume carries out operations, one file for each family (`Volume+Lookup`, `Volume+Open` and so on). State lies
/// in the types that the operations delegate to, each with its lock rule.
///
/// Lock rule: every call may come from any thread. Locks, outermost first: `names`; those of directories' entries and
/// then of files' places (``EntryLocks``); the open lock of one node (``OpenFileTable``); the locks of
/// ``EncryptedFile``; those of the node table and the directory cache. Reading and writing take none of the first
/// three: the open decided what they need.
public final class Volume: Sendable {
    /// The content of the root.
    public enum View: Sendable {
        /// All homes, by bundle identifier: the mount that the daemon keeps to itself.
        case device
        /// One app's home.
        case home(Home)
    }

    let context: StoreContext
    /// The device's directory, for the host filesystem's figures.
    let device: SharedDescriptor
    /// Held shared while a call relies on where directories lie, exclusively while they go or move, or zones change.
    let names = ReadWriteLock()
    /// Of a call that holds `names` shared, and relies on an entry or on where a file lies, or changes that.
    let entryLocks = EntryLocks()
    let places: NodePlaces
    let openFiles: OpenFileTable
    let homes: HomeRegistry
    let kernel = KernelCacheReference()
    let aliases = NodeAliases()
    let withdrawn = WithdrawnNames()

    public init(view: View, device: SharedDescriptor, context: StoreContext) {
        self.device = device
        self.context = context
        let table = NodeTable(root: Volume.root(view))
        places = NodePlaces(table: table, credentials: DaemonCredentials())
        openFiles = OpenFileTable(places: places, context: context, kernel: kernel)
        homes = HomeRegistry(table: table, names: names, kernel: kernel)
    }

    private static func root(_ view: View) -> Node {
        switch view {
        case .device:
            return Node(
                id: .root, generation: 0, kind: .device, inode: SyntheticInode.device, zone: .device, parent: nil,
                name: nil)
        case .home(let home):
            // A container's directory that cannot be examined shows the same error at every later call.
            let inode = (try? home.data.descriptor.status().inode) ?? SyntheticInode.device
            let root = Node(id: .root, generation: 0, kind: .home, inode: inode, zone: .home, parent: nil, name: nil)
            root.withRare { $0.anchor = home.data }
            root.scope?.ownHome = home
            return root
        }
    }

    /// The receiver of notifications: nil until the volume is mounted, and after its end.
    public var kernelCache: (any KernelCache)? {
        get { kernel.current }
        set { kernel.current = newValue }
    }

    // MARK: Parts without state, each over the parts above

    var table: NodeTable { places.table }
    var statuses: StatusReader { StatusReader(openFiles: openFiles, homes: homes, device: device) }
    var access: AccessTracking { AccessTracking(table: table, uses: context.uses, names: names) }
    var accounting: SpaceAccounting { SpaceAccounting(space: context.space, openFiles: openFiles) }
    var classes: ProtectionClasses { ProtectionClasses(openFiles: openFiles) }
    var marks: BackupMarks { BackupMarks(accounting: accounting) }
    var cacheTags: CacheTags { CacheTags(table: table, credentials: places.credentials) }
    var bundles: BundleEntries { BundleEntries(places: places, context: context, kernel: kernel) }
    var durability: NameDurability { NameDurability(places: places, device: device) }

    // MARK: Nodes

    /// - Throws: ESTALE for a node that is not known any more.
    func node(_ id: NodeID) throws(Fault) -> Node {
        guard let node = table.node(id) else { throw .system(.stale) }
        return node
    }

    /// The node of a directory that entries are made in or taken from.
    /// - Throws: ESTALE, ENOTDIR.
    func parent(_ id: NodeID) throws(Fault) -> Node {
        let node = try node(id)
        guard node.isDirectory else { throw .system(.notDirectory) }
        return node
    }

    /// Runs a call on one node, which keeps its place meanwhile.
    func keepingPlace<Result>(
        of id: NodeID, _ body: (Node) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        try names.reading { () throws(Fault) in
            let node = try self.node(id)
            return try entryLocks.keepingPlace(of: node) { () throws(Fault) in try body(node) }
        }
    }

    /// Whether the kernel may rely on a node's attributes. It may not for content that is closed even to open
    /// descriptors, nor while the device is nearly full: it asks before each write then, and the answer refuses the
    /// write.
    public func mayCacheStatus(of node: NodeID, _ status: FileStatus) -> Bool {
        guard status.kind == .file else { return status.kind != .directory || !isShared(node) }
        return context.deviceState.canOpen(.complete) && !context.space.isTight && places.epochs.isCurrent(node)
    }

    /// Takes lookups back that a lookup or the making of an entry counted.
    public func forget(_ node: NodeID, count: UInt64) {
        for app in table.forget(node, count: count) { homes.recordForgotten(app) }
    }

    /// Closes what is left of removed files. Call it when no request comes any more.
    public func releaseForgotten() { table.released.finish() }

    /// The number of nodes in memory, for the daemon's status.
    public var knownNodes: Int { table.count }

    /// The space that the device's containers take, and may take.
    public var space: SpaceLedger { context.space }
}
