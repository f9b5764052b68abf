// Containers in the making: built in the staging directory, then renamed into place together.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// The user that a container belongs to.
public struct ContainerOwner: Hashable, Sendable {
    /// A uid and a gid of the host.
    public let user: UInt32
    public let group: UInt32

    public init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }

    /// The user of this process.
    public static var current: ContainerOwner { ContainerOwner(user: geteuid(), group: getegid()) }
}

/// The new containers of one operation. No app is known by them before the operation registers it.
struct StagedContainers: ~Copyable {
    private let directory: DeviceDirectory
    private var containers: [(kind: ContainerKind, uuid: ContainerUUID)] = []

    /// - Parameter directory: of the device that gets the containers.
    init(_ directory: DeviceDirectory) {
        self.directory = directory
    }

    /// An empty container, still in the staging directory.
    mutating func make(
        _ kind: ContainerKind, _ uuid: ContainerUUID, owner: ContainerOwner
    ) throws(SystemError) -> Descriptor {
        let staging = try directory.staging()
        try staging.makeDirectory(uuid.fileName, for: owner)
        containers.append((kind, uuid))
        return try staging.openDirectory(uuid.fileName)
    }

    /// Takes over a container that lies in the staging directory already.
    mutating func take(_ kind: ContainerKind, _ uuid: ContainerUUID) {
        containers.append((kind, uuid))
    }

    /// Makes all containers durable, and then gives each its place.
    borrowing func moveIntoPlace(_ reached: (Milestone) -> Void) throws(SystemError) {
        try directory.root.synchronizeFilesystem()
        reached(.synchronized)
        let staging = try directory.staging()
        for (kind, uuid) in containers {
            try staging.rename(uuid.fileName, to: uuid.fileName, in: directory.containers(kind), mode: .keeping)
            reached(.movedOne)
        }
        for kind in Set(containers.map(\.kind)) { try directory.containers(kind).synchronizeEntries() }
        reached(.moved)
    }

    /// Takes all containers back and removes them. The next boot removes those that cannot be removed now.
    /// - Parameter kept: containers that came to be some app's all the same.
    borrowing func discard(keeping kept: Set<ContainerUUID> = []) {
        guard let staging = try? directory.staging() else { return }
        for (kind, uuid) in containers where !kept.contains(uuid) {
            try? directory.containers(kind).rename(uuid.fileName, to: uuid.fileName, in: staging, mode: .keeping)
            _ = try? staging.removeTree(uuid.fileName)
        }
    }
}

extension Descriptor {
    /// Makes a directory as the system makes them in containers: its owner's, mode 0755 whatever the umask is.
    borrowing func makeDirectory(_ name: FileName, for owner: ContainerOwner) throws(SystemError) {
        try makeDirectory(name, mode: S_IRWXU)
        try give(name, to: owner)
        try changeMode(of: name, to: 0o755)
    }

    /// Changes the owner of a name, unless this process's user is to have it, as it does already.
    borrowing func give(_ name: FileName, to owner: ContainerOwner) throws(SystemError) {
        guard owner != .current else { return }
        try changeOwner(of: name, to: owner.user, group: owner.group)
    }
}
