// The update of a data container: its names on the way from one UUID to another, and the exchange of its entries.
//
// The container is renamed, never copied, so that its files keep their inodes. From before the update is decided until
// it is done, the directory's name has both UUIDs. The registry names one of them, and that alone decides how the
// update goes on. The name is no UUID, so even a version that knows no updates does not remove the container as left
// over. The new entries are staged in the container itself, so that a copy of the device has them too.

import Glibc
public import Platform
public import SandboxModel

/// A data container on its way from one UUID to another. Its methods need the device's lock, and one thread.
public struct ContainerUpdate: Hashable, Sendable {
    public let old: ContainerUUID
    public let new: ContainerUUID

    private static let separator: Character = "+"
    /// The stage: a directory in the container, which the mount hides.
    static let stage: FileName = ".update"
    /// In the stage: the new entries, each under the name of the entry that it replaces.
    private static let coming: FileName = "new"
    /// In the stage: the replaced entries.
    private static let gone: FileName = "old"

    public init(from old: ContainerUUID, to new: ContainerUUID) {
        self.old = old
        self.new = new
    }

    /// - Returns: nil unless the name is `OLD+NEW`, of two UUIDs.
    init?(_ name: FileName) {
        let parts = name.text.split(separator: ContainerUpdate.separator, omittingEmptySubsequences: false)
        guard parts.count == 2, let old = ContainerUUID(String(parts[0])), let new = ContainerUUID(String(parts[1]))
        else { return nil }
        self.init(from: old, to: new)
    }

    /// The container's name during the update: `OLD+NEW`.
    public var name: FileName { FileName("\(old.text)\(ContainerUpdate.separator)\(new.text)")! }

    // MARK: Before the decision

    /// Makes the stage in the staging directory, under the new UUID.
    /// - Returns: the directory for the new entries.
    public func makeStage(in staging: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try staging.makeDirectory(new.fileName, mode: S_IRWXU)
        let stage = try staging.openDirectory(new.fileName)
        try stage.makeDirectory(ContainerUpdate.gone, mode: S_IRWXU)
        try stage.makeDirectory(ContainerUpdate.coming, mode: S_IRWXU)
        return try stage.openDirectory(ContainerUpdate.coming)
    }

    /// Renames the container to ``name``.
    public func begin(in containers: borrowing Descriptor) throws(SystemError) {
        try containers.rename(old.fileName, to: name, in: containers, mode: .keeping)
    }

    /// Moves the stage into the container. Durable on return, with the container's name.
    public func layStage(
        from staging: borrowing Descriptor, in containers: borrowing Descriptor
    ) throws(SystemError) {
        let container = try containers.openDirectory(name)
        if try container.exists(ContainerUpdate.stage) { try clear(container, to: staging) }
        // First: under its old name alone nobody would take a stage out of the container again.
        try containers.synchronizeEntries()
        try staging.rename(new.fileName, to: ContainerUpdate.stage, in: container, mode: .keeping)
        try container.synchronizeEntries()
    }

    // MARK: After the decision

    /// Exchanges each staged entry with the one that it replaces. Steps of an interrupted call are not repeated.
    /// - Parameter changed: called after each change.
    public func exchange(
        in container: borrowing Descriptor, _ changed: () -> Void = {}
    ) throws(SystemError) {
        guard try container.exists(ContainerUpdate.stage) else { return }
        let stage = try container.openDirectory(ContainerUpdate.stage)
        guard try stage.exists(ContainerUpdate.coming), try stage.exists(ContainerUpdate.gone) else { return }
        let coming = try stage.openDirectory(ContainerUpdate.coming)
        let gone = try stage.openDirectory(ContainerUpdate.gone)
        for name in try coming.names(where: { _ in true }).sorted(by: { $0.text < $1.text }) {
            if try container.exists(name) {
                try container.allowMoving(name)
                try container.rename(name, to: name, in: gone, mode: .keeping)
                changed()
            }
            try coming.rename(name, to: name, in: container, mode: .keeping)
            changed()
        }
    }

    /// Moves the replaced entries out of the container, durably, and gives it its new name. A power cut may bring the
    /// name of both UUIDs back; the next boot finishes then.
    /// - Parameter changed: called after each change.
    public func finish(
        in containers: borrowing Descriptor, _ staging: borrowing Descriptor, _ changed: () -> Void = {}
    ) throws(SystemError) {
        let container = try containers.openDirectory(name)
        try container.synchronizeEntries()
        if try container.exists(ContainerUpdate.stage) {
            try clear(container, to: staging)
            changed()
            try container.synchronizeEntries()
        }
        try containers.rename(name, to: new.fileName, in: containers, mode: .keeping)
        changed()
    }

    /// Removes the stage, durably, and gives the container its old name back. A power cut may bring the name of both
    /// UUIDs back; the next boot undoes then. Only before ``exchange(in:_:)``.
    public func undo(
        in containers: borrowing Descriptor, _ staging: borrowing Descriptor
    ) throws(SystemError) {
        let container = try containers.openDirectory(name)
        if try container.exists(ContainerUpdate.stage) {
            try clear(container, to: staging)
            try container.synchronizeEntries()
        }
        try containers.rename(name, to: old.fileName, in: containers, mode: .keeping)
    }

    /// Moves the stage to the staging directory, under the old UUID.
    private func clear(_ container: borrowing Descriptor, to staging: borrowing Descriptor) throws(SystemError) {
        if try staging.exists(old.fileName) { try staging.removeTree(old.fileName) }
        try container.rename(ContainerUpdate.stage, to: old.fileName, in: staging, mode: .keeping)
    }

    /// The entries that a finished update replaced, in the staging directory until that is emptied.
    public func dropped(in staging: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try staging.openDirectory(at: [old.fileName, ContainerUpdate.gone])
    }
}

extension DeviceDirectory {
    /// Finishes interrupted updates that the registry has decided, and undoes the others.
    public func finishUpdates(holding lock: DeviceLock) throws(Complaint) {
        let doing = "cannot finish or undo an update of an app in \(path)"
        let pending = try Complaint.wrap(doing) { () throws(SystemError) -> [ContainerUpdate] in
            // A copy of a device may lack empty directories.
            guard try root.holdsDirectory(ContainerKind.data.path) else { return [] }
            return try containers(.data).names { ContainerUpdate($0) != nil }.compactMap(ContainerUpdate.init)
        }
        guard !pending.isEmpty else { return }
        let known = Set(try apps().map(\.data))
        try Complaint.wrap(doing) { () throws(SystemError) in
            if try !root.exists(Name.staging) { try root.makePrivateDirectory(Name.staging) }
            let containers = try containers(.data)
            let staging = try staging()
            for update in pending {
                if known.contains(update.new) {
                    try update.exchange(in: try containers.openDirectory(update.name))
                    try update.finish(in: containers, staging)
                } else if known.contains(update.old) {
                    try update.undo(in: containers, staging)
                }
            }
        }
    }

    /// The host's path of a container now: after an interrupted update with the name `OLD+NEW`, until the device is
    /// served.
    public func presentPath(of kind: ContainerKind, _ uuid: ContainerUUID) -> String {
        let usual = path(of: kind, uuid)
        guard kind == .data, let containers = try? containers(.data), (try? containers.exists(uuid.fileName)) == false,
            let updating = try? containers.names(where: { name in
                ContainerUpdate(name).map { $0.old == uuid || $0.new == uuid } ?? false
            }).first
        else { return usual }
        return "\(usual.dropLast(uuid.text.count))\(updating.text)"
    }
}

extension Descriptor {
    /// Whether there is a directory at a path below this one.
    fileprivate borrowing func holdsDirectory(_ path: [FileName]) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try openDirectory(at: path)
            return true
        } catch {
            guard error == .noEntry else { throw error }
            return false
        }
    }

    /// Makes a directory writable for its owner: moving it to another parent changes its `..`.
    fileprivate borrowing func allowMoving(_ name: FileName) throws(SystemError) {
        let status = try status(of: name)
        guard geteuid() != 0, status.kind == .directory, status.permissions & S_IRWXU != S_IRWXU else { return }
        try changeMode(of: name, to: status.permissions | S_IRWXU)
    }
}
