// Containers that were restored and wait: the app that comes to be installed has them.

import BackingStore
import Platform
import SandboxModel

extension Device {
    /// Gives a waiting container to the app that is being installed. It becomes the app's with the registry alone; what is
    /// done here can be done again.
    func adopt(_ container: WaitingContainer, for owner: ContainerOwner) throws(Complaint) {
        let former = ContainerOwner(user: container.owner, group: container.ownerGroup)
        guard former != owner, ContainerOwner.current.user == 0 else { return }
        try Complaint.wrap("cannot give \(container.identifier) what was restored for it") { () throws(SystemError) in
            let tree = try directory.container(container.kind, container.uuid)
            try directory.containers(container.kind).give(container.uuid.fileName, to: owner)
            try Device.give(tree, of: former, to: owner)
        }
    }

    /// Gives all in a tree that is one user's to another.
    private static func give(
        _ tree: borrowing Descriptor, of former: ContainerOwner, to owner: ContainerOwner
    ) throws(SystemError) {
        var pending: [[FileName]] = [[]]
        while let path = pending.popLast() {
            let directory = try tree.openDirectory(at: path)
            let entries = try directory.entries()
            while let entry = try entries.next() {
                let status = try directory.status(of: entry.name)
                if status.kind == .directory { pending.append(path + [entry.name]) }
                guard status.owner == former.user else { continue }
                try directory.give(entry.name, to: owner)
                // A change of the owner takes set-user-ID away.
                guard status.kind != .symbolicLink, status.permissions & 0o6000 != 0 else { continue }
                try directory.changeMode(of: entry.name, to: status.permissions)
            }
        }
    }
}
