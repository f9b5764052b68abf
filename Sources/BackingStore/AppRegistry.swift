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

    public init(
        kind: ContainerKind, identifier: ContainerIdentifier, uuid: ContainerUUID, owner: UInt32, ownerGroup: UInt32
    ) {
        self.kind = kind
        self.identifier = identifier
        self.uuid = uuid
        self.owner = owner
        self.ownerGroup = ownerGroup
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
}
