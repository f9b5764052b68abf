// The content that the system makes in a group container.

import BackingStore
import Platform
import SandboxModel

/// A group container has `Library/Caches` from the beginning, and all else is its apps'.
enum GroupContainer {
    private static let directories: [[FileName]] = [
        [HomeLayout.library], [HomeLayout.library, HomeLayout.caches],
    ]

    /// Makes the missing directories, each with the class that the directory above gives. A name that is something else
    /// by now, on a device of an earlier version, stays as it is.
    /// - Returns: the number of directories that were made.
    @discardableResult
    static func fill(
        _ container: borrowing Descriptor, for owner: ContainerOwner
    ) throws(SystemError) -> Int {
        var made = 0
        for path in directories {
            let name = path[path.count - 1]
            do throws(SystemError) {
                let above = try container.openDirectory(at: path.dropLast())
                guard try !above.exists(name) else { continue }
                let protection = try above.givenClass()
                try above.makeDirectory(name, for: owner)
                try above.openDirectory(name).giveClass(protection)
                made += 1
            } catch {
                guard error == .notDirectory else { throw error }
            }
        }
        return made
    }

    /// Makes what is missing in the groups of a device of an earlier version. An app cannot take it away again. A group
    /// that cannot be changed now is completed by a later boot.
    /// - Returns: the number of directories that were made.
    static func fillAll(of registry: AppRegistry, in directory: DeviceDirectory) -> Int {
        var made = 0
        for (kind, uuid) in registry.places where kind == .group {
            guard let container = try? directory.container(kind, uuid), let status = try? container.status() else {
                continue
            }
            let owner = ContainerOwner(user: status.owner, group: status.group)
            made += (try? fill(container, for: owner)) ?? 0
        }
        return made
    }

    /// Whether a path is that of a directory that every group container has.
    static func isStandard(_ path: [FileName]) -> Bool { directories.contains(path) }
}

extension ContainerKind {
    /// Whether a path is that of a directory that every container of this kind has.
    func isStandard(_ path: [FileName]) -> Bool {
        switch self {
        case .data: DataContainer.isStandard(path)
        case .group: GroupContainer.isStandard(path)
        case .bundle, .iCloud: false
        }
    }
}
