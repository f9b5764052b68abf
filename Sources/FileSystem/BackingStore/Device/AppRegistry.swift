// Which apps there are, and which containers wait for theirs: what Apps.json holds.

public import SandboxModel

/// A container that was restored from a backup, and whose app is not installed: the app has it when it is.
public struct WaitingContainer: Hashable, Sendable {
    /// A data or a group container.
    public let kind: ContainerKind
    /// Of the app or the group.
    public let identifier: ContainerIdentifier
    public let uuid: ContainerUUID
    /// Whose its files are until then. A uid and a gid of the host.
    public let owner: UInt32
    public let ownerGroup: UInt32
    /// What the app was entitled to where it was backed up; none where the backup does not say, and for a group.
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

/// The registry of a device: it is what decides which containers are some app's, and which are left over.
public struct AppRegistry: Equatable, Sendable {
    /// Every installed app, by identifier.
    public var apps: [InstalledApp] {
        didSet { apps.sort { $0.identifier < $1.identifier } }
    }
    public var waiting: [WaitingContainer]

    public init(apps: [InstalledApp] = [], waiting: [WaitingContainer] = []) {
        self.apps = apps.sorted { $0.identifier < $1.identifier }
        self.waiting = waiting
    }

    /// Every container that is an app's, or is to be.
    public var containers: Set<ContainerUUID> {
        Set(apps.flatMap { $0.containers.map(\.uuid) } + waiting.map(\.uuid))
    }

    /// Where each of them lies, once.
    public var places: [(kind: ContainerKind, uuid: ContainerUUID)] {
        var seen: Set<ContainerUUID> = []
        return (apps.flatMap(\.containers) + waiting.map { ($0.kind, $0.uuid) }).filter {
            seen.insert($0.uuid).inserted
        }
    }

    /// What waits for an app or a group.
    public func waiting(_ kind: ContainerKind, _ identifier: ContainerIdentifier) -> WaitingContainer? {
        waiting.first { $0.kind == kind && $0.identifier == identifier }
    }

    /// Of apps and groups, sorted.
    public var waitingIdentifiers: [String] { waiting.map(\.identifier.text).sorted() }

    /// The data or the group container of an identifier, an app's or one that waits.
    public func container(_ kind: ContainerKind, _ identifier: ContainerIdentifier) -> ContainerUUID? {
        let installed =
            kind == .data
            ? apps.first { $0.identifier == identifier }?.data
            : apps.lazy.flatMap(\.groups).first { $0.identifier == identifier }?.uuid
        return installed ?? waiting(kind, identifier)?.uuid
    }

    /// The registry without what waits under an identifier: an app's data, with the groups that no other app waits
    /// with, or a group. The same registry where nothing does.
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
