// The mounts while an app is updated: they change from the old containers to the new ones at one moment.
// Lock: none of its own; the operation on the app keeps others from mounting it.

import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension Mounts {
    /// Prepares to show an update. All that may fail is done here, before the update is decided.
    /// - Throws: ``Complaint`` when the bundle or a container cannot be opened.
    func presenter(of update: AppUpdate) throws(Complaint) -> any HomePresenter {
        let new = update.new
        let bundle = try device.sealedBundle(of: new)
        let home = try Complaint.wrap("cannot open the containers of \(new.identifier)") {
            () throws(SystemError) in
            let shared = try EntitledContainers(of: new, in: device.directory)
            return HomeUpdate(
                app: new.identifier, bundleName: new.bundleName, bundle: bundle, data: update.data,
                groups: shared.groups,
                iCloud: shared.iCloud)
        }
        return Presenter(table: table, update: home)
    }

    /// Shows one update, on behalf of the installation.
    private final class Presenter: HomePresenter {
        let table: MountTable
        let update: HomeUpdate
        /// nil until the homes are exchanged. Of the one thread that carries out the update.
        private var shown: MountTable.ShownUpdate?

        init(table: MountTable, update: HomeUpdate) {
            self.table = table
            self.update = update
        }

        func exchange(_ body: () throws(SystemError) -> Void) throws(SystemError) {
            shown = try table.update(update, body)
        }

        func completeUpdate() { shown?.complete() }

        func recordRemoval(ofInode inode: UInt64) -> Bool { shown?.recordRemoval(ofInode: inode) ?? false }
    }

    /// Unmounts an app that was mounted only to run and runs no more: its mount point is named after a container that
    /// is about to get another name. A mount that is in use stays, and is updated as any other.
    func endMountToRun(_ app: ContainerIdentifier) {
        guard let mountPoint = mountPoint(of: app), homes.contain(mountPoint, .toRun) else { return }
        try? unmount(mountPoint, lazy: false)
    }
}
