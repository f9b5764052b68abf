// Another owner for the containers of all apps.

import Glibc
import Platform
public import SandboxModel

extension DeviceDirectory {
    /// Gives every data, group and iCloud container with all in it to one user, whose apps they are from then on. For a
    /// superuser's process; it can be repeated where it was interrupted.
    public func giveContainers(to user: UInt32, group: UInt32, holding lock: DeviceLock) throws(Complaint) {
        let owners = FileOwners(all: user, group: group)
        try Complaint.wrap("cannot give the containers of \(path) to user \(user)") { () throws(SystemError) in
            for kind in ContainerKind.allCases where kind != .bundle {
                let walk = TreeWalk(SharedDescriptor(try containers(kind)))
                var failure: SystemError?
                while let directory = walk.next(failed: { error, _ in failure = error }) {
                    if let failure { throw failure }
                    for name in try directory.descriptor.names(where: { _ in true }) {
                        try directory.descriptor.changeOwner(of: name, to: user, group: group)
                        if try directory.descriptor.status(of: name).kind == .directory { walk.add(name) }
                    }
                }
                if let failure { throw failure }
            }
        }
        // Last: the apps are those of the user when all of it is his.
        try replaceRegistry(owners.registry(try registry()), holding: lock)
    }
}
