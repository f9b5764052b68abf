// The containers that make up an app's home.

public import BackingStore
public import Glibc
public import Platform
public import SandboxModel

/// The containers of one app, opened, and their owner.
public struct Home: Sendable {
    public let app: ContainerIdentifier
    /// The `.app` directory's own name.
    public internal(set) var bundleName: FileName
    /// The `.app` directory, with the digests that were verified.
    public internal(set) var bundle: SealedBundle
    /// The data container: `Documents`, `Library`, `tmp` and the metadata.
    public let data: SharedDescriptor
    public internal(set) var groups: [ContainerIdentifier: SharedDescriptor]
    public internal(set) var iCloud: [ContainerIdentifier: SharedDescriptor]
    /// The container's user.
    public let owner: uid_t
    public let group: gid_t
    /// Whether it is that of an app extension, so that its bundle is shown in the home of its app too.
    public let isExtension: Bool
    /// Whether only the container's user may enter.
    public let isPrivate: Bool
    /// Whether the home shows `Documents` only, as file sharing does.
    public let showsOnlyDocuments: Bool
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`.
    public let showsCacheTags: Bool
    /// Whether its mount is read-only: reading does not change the time of access there.
    public var isReadOnly = false
    /// Whether an update has replaced the bundle. It is kept for processes that still use it.
    var isReplaced = false

    public init(
        app: ContainerIdentifier, bundleName: FileName, bundle: SealedBundle, data: SharedDescriptor,
        groups: [ContainerIdentifier: SharedDescriptor], iCloud: [ContainerIdentifier: SharedDescriptor],
        owner: uid_t, group: gid_t, isExtension: Bool = false, isPrivate: Bool, showsOnlyDocuments: Bool = false,
        showsCacheTags: Bool = false
    ) {
        self.app = app
        self.bundleName = bundleName
        self.bundle = bundle
        self.data = data
        self.groups = groups
        self.iCloud = iCloud
        self.owner = owner
        self.group = group
        self.isExtension = isExtension
        self.isPrivate = isPrivate
        self.showsOnlyDocuments = showsOnlyDocuments
        self.showsCacheTags = showsCacheTags
    }

    /// The entries of the data container that the top level shows.
    var dataEntries: [FileName] {
        showsOnlyDocuments
            ? [HomeLayout.documents]
            : [HomeLayout.documents, HomeLayout.library, HomeLayout.temporary, HomeLayout.metadata]
    }

    /// The bundle's name at the top level.
    var bundleEntries: [FileName] { showsOnlyDocuments ? [] : [bundleName] }

    /// `Groups` and `iCloud`, where the app has such containers.
    var containerDirectories: [FileName] {
        guard !showsOnlyDocuments else { return [] }
        return (groups.isEmpty ? [] : [HomeLayout.groups]) + (iCloud.isEmpty ? [] : [HomeLayout.iCloud])
    }

    /// The link count of the top level: its name, its own `.`, and the `..` of each directory in it.
    var linkCount: Int {
        let directories = bundleEntries + dataEntries.filter { $0 != HomeLayout.metadata } + containerDirectories
        return 2 + directories.count
    }

    /// The containers that `Groups` or `iCloud` lists.
    func containers(named directory: FileName) -> [ContainerIdentifier: SharedDescriptor] {
        directory == HomeLayout.groups ? groups : iCloud
    }
}

extension Zone {
    /// The zone of an entry, by its directory's.
    ///
    /// - Parameter isStandard: whether the entry of a standard directory is one itself.
    static func of(_ name: FileName, in zone: Zone, isStandard: @autoclosure () -> Bool) -> Zone {
        switch zone {
        case .device: .home
        case .home:
            switch name {
            case HomeLayout.documents: .documents
            case HomeLayout.library, HomeLayout.temporary: .standardDirectory
            case HomeLayout.metadata: .metadata
            case HomeLayout.groups, HomeLayout.iCloud: .containers
            default: .bundle
            }
        case .bundle, .metadata: .bundle
        case .cacheTag: .cacheTag
        case .containers: .standardDirectory
        case .standardDirectory: isStandard() ? .standardDirectory : .container
        case .documents: name == HomeLayout.inbox ? .inbox : .container
        case .inbox, .inboxItem: .inboxItem
        case .container: .container
        }
    }
}
