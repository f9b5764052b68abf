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
        let home = try homeUpdate(update.new) { () throws(SystemError) in update.data }
        var extensions: [HomeUpdate] = []
        // Extensions that are not shown have nothing that could be changed.
        for part in update.extensions where table.volume(of: part.identifier) != nil {
            let update = try homeUpdate(part) { () throws(SystemError) in
                SharedDescriptor(try device.directory.container(.data, part.data))
            }
            extensions.append(update)
        }
        return Presenter(table: table, update: home, extensions: extensions)
    }

    /// - Parameter data: opens the data container.
    private func homeUpdate(
        _ new: InstalledApp, _ data: () throws(SystemError) -> SharedDescriptor
    ) throws(Complaint) -> HomeUpdate {
        let bundle = try device.sealedBundle(of: new)
        return try Complaint.wrap("cannot open the containers of \(new.identifier)") { () throws(SystemError) in
            let shared = try EntitledContainers(of: new, in: device.directory)
            return HomeUpdate(
                app: new.identifier, bundleName: new.bundleName, bundle: bundle, data: try data(),
                groups: shared.groups, iCloud: shared.iCloud)
        }
    }

    /// Shows one update, on behalf of the installation.
    private final class Presenter: HomePresenter {
        let table: MountTable
        let update: HomeUpdate
        /// Those of the app's extensions, in whose homes nothing but the bundle changes.
        let extensions: [HomeUpdate]
        /// nil until the homes are exchanged. Of the one thread that carries out the update.
        private var shown: MountTable.ShownUpdate?
        private var shownExtensions: [MountTable.ShownUpdate] = []

        init(table: MountTable, update: HomeUpdate, extensions: [HomeUpdate]) {
            self.table = table
            self.update = update
            self.extensions = extensions
        }

        func exchange(_ body: () throws(SystemError) -> Void) throws(SystemError) {
            shown = try table.update(update, body)
            for update in extensions {
                if let shown = try table.update(update, {}) { shownExtensions.append(shown) }
            }
        }

        func completeUpdate() {
            shown?.complete()
            for shown in shownExtensions { shown.complete() }
        }

        func recordRemoval(ofInode inode: UInt64) -> Bool { shown?.recordRemoval(ofInode: inode) ?? false }
    }

    /// Unmounts an app that was mounted only to run and runs no more: its mount point is named after a container that
    /// is about to get another name. A mount that is in use stays, and is updated as any other.
    func endMountToRun(_ app: ContainerIdentifier) {
        guard let mountPoint = mountPoint(of: app), homes.contain(mountPoint, .toRun) else { return }
        try? unmount(mountPoint, lazy: false)
    }
}
