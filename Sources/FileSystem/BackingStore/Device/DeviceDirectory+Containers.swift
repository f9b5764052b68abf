// Containers and the staging directory: opening them by descriptor, and removing what interrupted operations left.

import Glibc
public import Platform
public import SandboxModel

extension DeviceDirectory {
    /// The directory that holds all containers of a kind.
    /// - Returns: an `O_PATH` descriptor, as all descriptors of this file.
    public func containers(_ kind: ContainerKind) throws(SystemError) -> Descriptor {
        try root.openDirectory(at: kind.path)
    }

    public func container(_ kind: ContainerKind, _ uuid: ContainerUUID) throws(SystemError) -> Descriptor {
        try root.openDirectory(at: kind.path + [uuid.fileName])
    }

    /// The directory of unfinished work. Its content at the start of a device is left from interrupted operations.
    public func staging() throws(SystemError) -> Descriptor {
        try root.openDirectory(Name.staging)
    }

    /// The host's path of a container.
    public func path(of kind: ContainerKind, _ uuid: ContainerUUID) -> String {
        path + "/" + kind.path.map(\.text).joined(separator: "/") + "/" + uuid.text
    }

    /// The directory of all containers.
    public func containerTree() throws(SystemError) -> SharedDescriptor {
        SharedDescriptor(try root.openDirectory(Name.containers))
    }

    /// The host filesystem's figures, by `statfs(2)`.
    public var hostSpace: SpaceLedger.Figures {
        // No bound if the host does not tell.
        guard let host = try? root.filesystemStatistics() else {
            return SpaceLedger.Figures(total: .max, free: .max, available: .max)
        }
        let size = Int64(host.f_frsize)
        return SpaceLedger.Figures(
            total: Int64(host.f_blocks) * size, free: Int64(host.f_bfree) * size, available: Int64(host.f_bavail) * size
        )
    }

    /// Repairs after interrupted operations: finishes updates that were decided, and removes all other staged work and
    /// containers without an app.
    /// - Parameter kept: names in the staging directory that are in use.
    /// - Returns: the number of removed trees.
    @discardableResult
    public func removeLeftovers(
        holding lock: DeviceLock, keeping kept: Set<FileName> = [], progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> Int {
        // First: without a readable registry nothing is known to be left over.
        let known = try registry().containers
        let doing = "cannot remove what an interrupted operation left in \(path)"
        try Complaint.wrap(doing) { () throws(SystemError) in
            // A copy of a device may lack empty directories.
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

    /// Whether a directory is a container without an app. Foreign names are not.
    private static func isOrphan(_ name: FileName, _ known: Set<ContainerUUID>) -> Bool {
        if let uuid = ContainerUUID(name.text) { return !known.contains(uuid) }
        // A container that an app has was repaired before, or will be.
        return ContainerUpdate(name).map { !known.contains($0.old) && !known.contains($0.new) } ?? false
    }

    /// The paths, from the device directory, that ``removeLeftovers(holding:keeping:progress:)`` would repair or
    /// remove.
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

    /// Empties the staging directory.
    /// - Parameter kept: names that are in use.
    /// - Returns: the number of removed trees.
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
    /// The names in this directory that meet a condition.
    public borrowing func names(where condition: (FileName) -> Bool) throws(SystemError) -> [FileName] {
        var names: [FileName] = []
        let reader = try entries()
        while let entry = try reader.next() { if condition(entry.name) { names.append(entry.name) } }
        return names
    }
}
