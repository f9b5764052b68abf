// The mounts while an app is updated: what they show of it changes at one moment.
// Lock: none; the operation on the app that is under way keeps others from mounting it.

import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension Mounts {
    /// Gets ready to show an update: whatever may fail is done here, before it is decided on.
    func presenter(of update: AppUpdate) throws(Complaint) -> any HomePresenter {
        let new = update.new
        let bundle = try device.sealedBundle(of: new)
        let home = try Complaint.wrap("cannot open the containers of \(new.identifier)") {
            () throws(SystemError) in
            var groups: [ContainerIdentifier: SharedDescriptor] = [:]
            for group in new.groups {
                groups[group.identifier] = SharedDescriptor(try device.directory.container(.group, group.uuid))
            }
            var iCloud: [ContainerIdentifier: SharedDescriptor] = [:]
            for container in new.iCloud {
                iCloud[container.identifier] = SharedDescriptor(
                    try device.directory.container(.iCloud, container.uuid))
            }
            return HomeUpdate(
                app: new.identifier, bundleName: new.bundleName, bundle: bundle, data: update.data, groups: groups,
                iCloud: iCloud)
        }
        return Presenter(table: table, update: home)
    }

    private final class Presenter: HomePresenter {
        let table: MountTable
        let update: HomeUpdate
        private var shown: MountTable.ShownUpdate?

        init(table: MountTable, update: HomeUpdate) {
            self.table = table
            self.update = update
        }

        func exchange(_ body: () throws(SystemError) -> Void) throws(SystemError) {
            shown = try table.update(update, body)
        }

        func settle() { shown?.settle() }

        func noteRemoval(ofInode inode: UInt64) -> Bool { shown?.noteRemoval(ofInode: inode) ?? false }
    }

    /// Ends the mount that was made to run an app that does not run any more: it is named after a container that is
    /// about to get another name. Where something in it is in use it stays, and is updated as any other.
    func endMountToRun(_ app: ContainerIdentifier) {
        guard let mountPoint = mountPoint(of: app), homes.contain(mountPoint, .toRun) else { return }
        try? unmount(mountPoint, lazy: false)
    }
}
