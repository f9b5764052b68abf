// Reaching containers and the staging directory by descriptor, and naming them for people.

import Glibc
public import Platform
public import SandboxModel

extension DeviceDirectory {
    /// The directory that holds all containers of a kind.
    public func containers(_ kind: ContainerKind) throws(SystemError) -> Descriptor {
        try root.openDirectory(at: kind.path)
    }

    public func container(_ kind: ContainerKind, _ uuid: ContainerUUID) throws(SystemError) -> Descriptor {
        try root.openDirectory(at: kind.path + [uuid.fileName])
    }

    /// Work under way: whatever lies there when a device starts is what an interrupted operation left.
    public func staging() throws(SystemError) -> Descriptor {
        try root.openDirectory(Name.staging)
    }

    /// The host's path of a container.
    public func path(of kind: ContainerKind, _ uuid: ContainerUUID) -> String {
        path + "/" + kind.path.map(\.text).joined(separator: "/") + "/" + uuid.text
    }

    /// The directory above all containers.
    public func containerTree() throws(SystemError) -> SharedDescriptor {
        SharedDescriptor(try root.openDirectory(Name.containers))
    }

    /// What the host's filesystem has, as statfs(2) tells.
    public var hostSpace: SpaceLedger.Figures {
        // A host that does not say bounds nothing.
        guard let host = try? root.filesystemStatistics() else {
            return SpaceLedger.Figures(total: .max, free: .max, available: .max)
        }
        let size = Int64(host.f_frsize)
        return SpaceLedger.Figures(
            total: Int64(host.f_blocks) * size, free: Int64(host.f_bfree) * size, available: Int64(host.f_bavail) * size
        )
    }

    /// Settles what interrupted operations left: an update that was decided on is finished; all else that was being
    /// staged is removed, and so are containers that no app has.
    /// - Parameter kept: names in the staging directory that are in use.
    /// - Returns: how many trees were removed.
    @discardableResult
    public func removeLeftovers(
        holding lock: DeviceLock, keeping kept: Set<FileName> = [], progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> Int {
        // Read first: with a registry that cannot be read nothing is known to be left over.
        let known = try registry().containers
        let doing = "cannot remove what an interrupted operation left in \(path)"
        try Complaint.wrap(doing) { () throws(SystemError) in
            // A copy made by a tool that leaves out empty directories is a device as well.
            if try !root.exists(Name.staging) { try root.makePrivateDirectory(Name.staging) }
            try DeviceDirectory.makeContainerDirectories(in: root)
        }
        try finishUpdates(holding: lock)
        return try Complaint.wrap(doing) { () throws(SystemError) in
            let staging = try staging()
            for kind in ContainerKind.allCases {
                let containers = try containers(kind)
                let orphans = try containers.names { DeviceDirectory.isOrphan($0, known) }
                for name in orphans { try containers.rename(name, to: name, in: staging) }
            }
            return try emptyStaging(keeping: kept, progress: progress)
        }
    }

    /// Whether a container's directory is no app's. Names that are not the device's own are let alone.
    private static func isOrphan(_ name: FileName, _ known: Set<ContainerUUID>) -> Bool {
        if let uuid = ContainerUUID(name.text) { return !known.contains(uuid) }
        // One that an app has was settled before, or waits for that.
        return ContainerUpdate(name).map { !known.contains($0.old) && !known.contains($0.new) } ?? false
    }

    /// What ``removeLeftovers(holding:keeping:progress:)`` would settle, by path from the device directory.
    /// - Parameter kept: names in the staging directory that are in use.
    public func leftovers(keeping kept: Set<FileName> = []) throws(Complaint) -> [String] {
        let known = try registry().containers
        return try Complaint.wrap("cannot look for leftovers in \(path)") { () throws(SystemError) in
            var found = try staging().names { !kept.contains($0) }.map { "\(Name.staging.text)/\($0.text)" }
            for kind in ContainerKind.allCases {
                let orphans = try containers(kind).names { name in
                    DeviceDirectory.isOrphan(name, known) || ContainerUpdate(name) != nil
                }
                found += orphans.map { (kind.path + [$0]).map(\.text).joined(separator: "/") }
            }
            return found
        }
    }

    /// Removes all that lies in the staging directory.
    /// - Parameter kept: names of what is in use.
    @discardableResult
    public func emptyStaging(
        keeping kept: Set<FileName> = [], progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(SystemError) -> Int {
        let staging = try staging()
        var trees = 0
        var removed: Int64 = 0
        for name in try staging.names(where: { !kept.contains($0) }) {
            let finished = try staging.removeTree(name) { count in
                removed += count
                return progress(DeviceProgress(unit: .files, completed: removed, total: nil))
            }
            guard finished else { break }
            trees += 1
        }
        return trees
    }
}

extension Descriptor {
    /// The names in this directory that fulfil a condition.
    public borrowing func names(where condition: (FileName) -> Bool) throws(SystemError) -> [FileName] {
        var names: [FileName] = []
        let reader = try entries()
        while let entry = try reader.next() { if condition(entry.name) { names.append(entry.name) } }
        return names
    }
}
