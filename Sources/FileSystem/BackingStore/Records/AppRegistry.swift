// The registry of a device: its installed apps, and restored containers whose app is not installed. Kept in Apps.json.

public import SandboxModel

/// A container that was restored from a backup for an app that is not installed. The app gets it at its installation.
public struct WaitingContainer: Hashable, Sendable {
    /// A data or a group container.
    public let kind: ContainerKind
    /// The identifier of the app or the group.
    public let identifier: ContainerIdentifier
    public let uuid: ContainerUUID
    /// The owner of its files until then: a uid and a gid of the host.
    public let owner: UInt32
    public let ownerGroup: UInt32
    /// The groups that the app was entitled to when it was backed up. Empty for a group, and if the backup does not
    /// tell.
    public let groups: [ContainerIdentifier]

    public init(
        kind: ContainerKind, identifier: ContainerIdentifier, uuid: ContainerUUID, owner: UInt32, ownerGroup: UInt32,
        groups: [ContainerIdentifier] = []
    ) {
        self.kind = kind
        self.identifier = identifier
        self.uuid = uuid
        self.owner = owner
        self.ownerGroup = ownerGroup
        self.groups = groups
    }
}

/// The registry of a device. It decides which containers belong to an app, and which are left over.
public struct AppRegistry: Equatable, Sendable {
    /// Every installed app and app extension, by identifier.
    public var apps: [InstalledApp] {
        didSet { apps.sort { $0.identifier < $1.identifier } }
    }
    /// Containers that wait for their app, or for the first app of their group.
    public var waiting: [WaitingContainer]

    public init(apps: [InstalledApp] = [], waiting: [WaitingContainer] = []) {
        self.apps = apps.sorted { $0.identifier < $1.identifier }
        self.waiting = waiting
    }

    /// The extensions of an app, by identifier.
    public func extensions(of app: ContainerIdentifier) -> [InstalledApp] { apps.filter { $0.place?.app == app } }

    /// An app with its extensions; an extension alone.
    public func family(of app: ContainerIdentifier) -> [InstalledApp] {
        apps.filter { $0.identifier == app || $0.place?.app == app }
    }

    /// Every container that an app has, or will have.
    public var containers: Set<ContainerUUID> {
        Set(apps.flatMap { $0.containers.map(\.uuid) } + waiting.map(\.uuid))
    }

    /// The same containers with their kinds, each once.
    public var places: [(kind: ContainerKind, uuid: ContainerUUID)] {
        var seen: Set<ContainerUUID> = []
        return (apps.flatMap(\.containers) + waiting.map { ($0.kind, $0.uuid) }).filter {
            seen.insert($0.uuid).inserted
        }
    }

    /// The container that waits for an app or a group.
    public func waiting(_ kind: ContainerKind, _ identifier: ContainerIdentifier) -> WaitingContainer? {
        waiting.first { $0.kind == kind && $0.identifier == identifier }
    }

    /// The identifiers of waiting containers, sorted.
    public var waitingIdentifiers: [String] { waiting.map(\.identifier.text).sorted() }

    /// The data or group container of an identifier, whether an app has it or it waits.
    /// - Parameter kind: `data` or `group`.
    public func container(_ kind: ContainerKind, _ identifier: ContainerIdentifier) -> ContainerUUID? {
        let installed =
            kind == .data
            ? apps.first { $0.identifier == identifier }?.data
            : apps.lazy.flatMap(\.groups).first { $0.identifier == identifier }?.uuid
        return installed ?? waiting(kind, identifier)?.uuid
    }

    /// The registry without the containers that wait under an identifier: a group; or an app's data, with its groups
    /// that no other waiting app shares. Unchanged if none waits.
    public func discarding(_ identifier: ContainerIdentifier) -> AppRegistry {
        var registry = self
        let going = waiting.filter { $0.identifier == identifier }
        registry.waiting.removeAll { $0.identifier == identifier }
        let wanted = Set(registry.waiting.flatMap(\.groups))
        let orphans = Set(going.flatMap(\.groups)).subtracting(wanted)
        registry.waiting.removeAll { $0.kind == .group && orphans.contains($0.identifier) }
        return registry
    }
}
