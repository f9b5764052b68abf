// The files of an app's home, looked at and marked by the device itself: through a mount that shows them, or where none
// does.

import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

/// The failure of a look at an app's home.
enum LookFailure: Error {
    /// Of the filesystem, at the path.
    case fault(Fault)
    /// Of the home.
    case complaint(Complaint)
}

extension Mounts {
    /// Inspects a path of an app's home.
    func inspect(_ path: [FileName], of app: InstalledApp) throws(LookFailure) -> NodeInspection {
        try look(at: path, of: app) { (volume, home) throws(Fault) in try volume.inspect(home + path) }
    }

    /// Lists a part of a directory in an app's home.
    func contents(_ order: ListingOrder, of app: InstalledApp) throws(LookFailure) -> Listing {
        // A mount of `Documents` alone shows the home, and not all of it.
        let place = order.directory.isEmpty ? [HomeLayout.library] : order.directory
        return try look(at: place, of: app) { (volume, home) throws(Fault) in
            try volume.contents(order, ofHome: home)
        }
    }

    /// Looks at an app's home: through a mount if one shows the path, else through a volume of its own.
    /// - Parameters:
    ///   - path: the path that is looked at, from the home.
    ///   - body: gets the volume, and the path of the home from the volume's root.
    private func look<Result>(
        at path: [FileName], of app: InstalledApp, _ body: (Volume, [FileName]) throws(Fault) -> Result
    ) throws(LookFailure) -> Result {
        if let (volume, home) = shown(path, of: app) {
            return try LookFailure.wrap { () throws(Fault) in try body(volume, home) }
        }
        let volume = try volumeBesideMounts(of: app)
        return try LookFailure.wrap { () throws(Fault) in try body(volume, []) }
    }

    /// Sets or removes an extended attribute in an app's home. The caller has an operation on each app of
    /// ``sharers(of:in:)``, so that none of them is mounted meanwhile: two volumes would write to one backing file.
    /// - Returns: whether the attribute changed.
    /// - Throws: also ``Complaint`` of kind `inUse` where the app's mount shows `Documents` alone, and a file there may
    ///   have its other name at the path.
    func change(
        attribute name: String, to value: [UInt8]?, of path: [FileName], in app: InstalledApp
    ) throws(LookFailure) -> Bool {
        func change(_ volume: Volume, _ home: [FileName]) throws(Fault) -> Bool {
            try volume.change(attribute: Array(name.utf8), to: value, of: home + path)
        }
        if let (volume, home) = shown(path, of: app) {
            return try LookFailure.wrap { () throws(Fault) in try change(volume, home) }
        }
        guard table.volume(of: app.identifier) == nil else {
            let place = mountPoint(of: app.identifier).map { " at \($0)" } ?? ""
            throw .complaint(
                Complaint(
                    .inUse, "\(app.identifier) is mounted\(place) with its documents only; unmount that first"))
        }
        let home = try homeBesideMounts(of: app)
        let root = try duplicateOfRoot()
        return try LookFailure.wrap { () throws(Fault) in
            // A file may be open still after a lazy unmount, and the kernel may rely on what it knows of one.
            if let changed = try table.showing(home, { (volume, home) throws(Fault) in try change(volume, home) }) {
                return changed
            }
            return try change(Volume(view: .home(home), device: root, context: device.context), [])
        }
    }

    /// The volume of a mount that shows a path of an app's home, and the path of a home in it: the app's own, or that
    /// of another app with the same container.
    private func shown(_ path: [FileName], of app: InstalledApp) -> (Volume, [FileName])? {
        for sharer in [app.identifier] + sharers(of: path, in: app).filter({ $0 != app.identifier }) {
            if let found = table.volume(of: sharer, showing: path) { return found }
        }
        return nil
    }

    /// The apps whose homes show a path of an app's home, with that app itself, in the order of the registry.
    func sharers(of path: [FileName], in app: InstalledApp) -> [ContainerIdentifier] {
        guard path.count > 1, let container = ContainerIdentifier(path[1].text) else { return [app.identifier] }
        let others = device.registry.apps.filter { other in
            switch path[0] {
            case HomeLayout.groups: other.groups.contains { $0.identifier == container }
            case HomeLayout.iCloud: other.iCloud.contains { $0.identifier == container }
            default: false
            }
        }
        return Set(others.map(\.identifier) + [app.identifier]).sorted()
    }

    // MARK: Beside all mounts

    private func volumeBesideMounts(of app: InstalledApp) throws(LookFailure) -> Volume {
        let home = try homeBesideMounts(of: app)
        return Volume(view: .home(home), device: try duplicateOfRoot(), context: device.context)
    }

    private func homeBesideMounts(of app: InstalledApp) throws(LookFailure) -> Home {
        do throws(LookFailure) {
            return try openHome(of: app)
        } catch {
            // An update may be giving the containers other names.
            device.awaitChange()
            guard let present = try? device.app(app.identifier) else { throw error }
            return try openHome(of: present)
        }
    }

    private func openHome(of app: InstalledApp) throws(LookFailure) -> Home {
        do throws(Complaint) {
            return try home(of: app, MountOptions())
        } catch {
            throw .complaint(error)
        }
    }

    private func duplicateOfRoot() throws(LookFailure) -> SharedDescriptor {
        try LookFailure.wrap { () throws(Fault) in
            try onHost { () throws(SystemError) in SharedDescriptor(try device.directory.root.duplicate()) }
        }
    }
}

extension LookFailure {
    fileprivate static func wrap<Result>(_ body: () throws(Fault) -> Result) throws(LookFailure) -> Result {
        do throws(Fault) {
            return try body()
        } catch {
            throw .fault(error)
        }
    }
}
