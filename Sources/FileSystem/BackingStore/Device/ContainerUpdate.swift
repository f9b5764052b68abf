// Data containers whose app is being updated: by which name they are known, and what takes the place of what in them.
//
// The container is renamed, never copied: what it holds keeps its inodes, whatever becomes of the update. From before
// the update is decided on until it is done the directory bears both UUIDs, so that the registry alone, which names one
// of the two, says how it goes on; and because the name is no UUID, nobody takes it for a container that no app has,
// a version that knows of no updates included. What is to come lies ready in the container itself, so that a copy of the
// device has it too. Whoever calls holds the device, and changes which apps there are.

import Glibc
public import Platform
public import SandboxModel

/// A data container on its way from one UUID to another.
public struct ContainerUpdate: Hashable, Sendable {
    public let old: ContainerUUID
    public let new: ContainerUUID

    private static let separator: Character = "+"
    /// In the container, while it bears both names. The mount does not show it.
    static let stage: FileName = ".update"
    /// In the stage: what takes the place of an entry of the container, by its name.
    private static let coming: FileName = "new"
    /// In the stage: what was in that place.
    private static let gone: FileName = "old"

    public init(from old: ContainerUUID, to new: ContainerUUID) {
        self.old = old
        self.new = new
    }

    /// - Returns: nil unless the name is that of a container that is being updated.
    init?(_ name: FileName) {
        let parts = name.text.split(separator: ContainerUpdate.separator, omittingEmptySubsequences: false)
        guard parts.count == 2, let old = ContainerUUID(String(parts[0])), let new = ContainerUUID(String(parts[1]))
        else { return nil }
        self.init(from: old, to: new)
    }

    /// The container's name meanwhile.
    public var name: FileName { FileName("\(old.text)\(ContainerUpdate.separator)\(new.text)")! }

    // MARK: Getting ready

    /// Makes the stage in the staging directory, under the new UUID.
    /// - Returns: the directory for the entries that are to come.
    public func makeStage(in staging: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try staging.makeDirectory(new.fileName, mode: S_IRWXU)
        let stage = try staging.openDirectory(new.fileName)
        try stage.makeDirectory(ContainerUpdate.gone, mode: S_IRWXU)
        try stage.makeDirectory(ContainerUpdate.coming, mode: S_IRWXU)
        return try stage.openDirectory(ContainerUpdate.coming)
    }

    /// Gives the container both names.
    public func begin(in containers: borrowing Descriptor) throws(SystemError) {
        try containers.rename(old.fileName, to: name, in: containers, mode: .keeping)
    }

    /// Lays the stage ready in the container, and makes that and its name durable.
    public func layStage(
        from staging: borrowing Descriptor, in containers: borrowing Descriptor
    ) throws(SystemError) {
        let container = try containers.openDirectory(name)
        if try container.exists(ContainerUpdate.stage) { try clear(container, to: staging) }
        try staging.rename(new.fileName, to: ContainerUpdate.stage, in: container, mode: .keeping)
        try container.synchronizeEntries()
        try containers.synchronizeEntries()
    }

    // MARK: The end

    /// Puts what lies ready into its place. What was done before is not done again.
    /// - Parameter changed: told after each change.
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

    /// Takes what was dropped out of the container, which has its new name alone then. Durable when it returns.
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
        try containers.synchronizeEntries()
        changed()
    }

    /// Gives the container its old name back. Nothing in it has changed.
    public func undo(
        in containers: borrowing Descriptor, _ staging: borrowing Descriptor
    ) throws(SystemError) {
        let container = try containers.openDirectory(name)
        if try container.exists(ContainerUpdate.stage) {
            try clear(container, to: staging)
            try container.synchronizeEntries()
        }
        try containers.rename(name, to: old.fileName, in: containers, mode: .keeping)
        try containers.synchronizeEntries()
    }

    private func clear(_ container: borrowing Descriptor, to staging: borrowing Descriptor) throws(SystemError) {
        if try staging.exists(old.fileName) { try staging.removeTree(old.fileName) }
        try container.rename(ContainerUpdate.stage, to: old.fileName, in: staging, mode: .keeping)
    }

    /// What a finished update has dropped: a directory in the staging directory, until that is emptied.
    public func dropped(in staging: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try staging.openDirectory(at: [old.fileName, ContainerUpdate.gone])
    }
}

extension DeviceDirectory {
    /// Carries on with the updates that an interruption left: those that the registry knows of are finished, the others
    /// never were.
    public func finishUpdates(holding lock: DeviceLock) throws(Complaint) {
        let doing = "cannot settle an update of an app in \(path)"
        let pending = try Complaint.wrap(doing) { () throws(SystemError) -> [ContainerUpdate] in
            // A copy made by a tool that leaves out empty directories is a device as well.
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

    /// Where a container is now: one whose update was interrupted has a name of its own until the device is served.
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
    fileprivate borrowing func holdsDirectory(_ path: [FileName]) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try openDirectory(at: path)
            return true
        } catch {
            guard error == .noEntry else { throw error }
            return false
        }
    }

    /// Lets a directory of this process's own user be taken to another parent, for which it has to be writable.
    fileprivate borrowing func allowMoving(_ name: FileName) throws(SystemError) {
        let status = try status(of: name)
        guard geteuid() != 0, status.kind == .directory, status.permissions & S_IRWXU != S_IRWXU else { return }
        try changeMode(of: name, to: status.permissions | S_IRWXU)
    }
}
