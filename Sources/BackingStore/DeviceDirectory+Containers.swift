// Reaching containers and the staging directory by descriptor, and naming them for people.

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

    /// Removes what interrupted operations left: all that was being staged, and containers that no app has.
    /// - Returns: how many trees were removed.
    @discardableResult
    public func removeLeftovers(
        holding lock: DeviceLock, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> Int {
        // Read first: with a registry that cannot be read nothing is known to be left over.
        let known = Set(try apps().flatMap { $0.containers.map(\.uuid) })
        return try Complaint.wrap("cannot remove what an interrupted operation left in \(path)") {
            () throws(SystemError) in
            // A copy made by a tool that leaves out empty directories is a device as well.
            if try !root.exists(Name.staging) { try root.makePrivateDirectory(Name.staging) }
            try DeviceDirectory.makeContainerDirectories(in: root)
            let staging = try staging()
            for kind in ContainerKind.allCases {
                let containers = try containers(kind)
                let orphans = try containers.names { name in
                    ContainerUUID(name.text).map { !known.contains($0) } ?? false
                }
                for name in orphans { try containers.rename(name, to: name, in: staging) }
            }
            return try emptyStaging(progress: progress)
        }
    }

    /// What ``removeLeftovers(holding:progress:)`` would remove, by path from the device directory.
    public func leftovers() throws(Complaint) -> [String] {
        let known = Set(try apps().flatMap { $0.containers.map(\.uuid) })
        return try Complaint.wrap("cannot look for leftovers in \(path)") { () throws(SystemError) in
            var found = try staging().names { _ in true }.map { "\(Name.staging.text)/\($0.text)" }
            for kind in ContainerKind.allCases {
                let orphans = try containers(kind).names { name in
                    ContainerUUID(name.text).map { !known.contains($0) } ?? false
                }
                found += orphans.map { (kind.path + [$0]).map(\.text).joined(separator: "/") }
            }
            return found
        }
    }

    /// Removes all that lies in the staging directory.
    @discardableResult
    public func emptyStaging(progress: (DeviceProgress) -> Bool = { _ in true }) throws(SystemError) -> Int {
        let staging = try staging()
        var trees = 0
        var removed: Int64 = 0
        for name in try staging.names(where: { _ in true }) {
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
