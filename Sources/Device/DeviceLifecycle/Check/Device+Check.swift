// Looking at every file of a device: its header, its length, and each of its blocks.

public import BackingStore
import BundleSeal
import Platform
public import SandboxModel

/// What a check found.
public struct DeviceCheck: Equatable, Sendable {
    public struct Problem: Hashable, Sendable {
        /// The app, group or iCloud container; `device` for the device itself.
        public let container: String
        /// From the container's top; empty for the container itself.
        public let path: String
        /// What is wrong, and where in the file.
        public let message: String
    }

    /// Files of which everything was looked at.
    public internal(set) var files = 0
    /// Files whose class keeps their content closed in the device's present state.
    public internal(set) var unreadable = 0
    public internal(set) var problems: [Problem] = []
    /// What `repair` cleared away.
    public internal(set) var repaired: [Problem] = []
}

extension Device {
    /// Checks every file of every app, mounted or not. Content is never changed.
    ///
    /// - Parameters:
    ///   - repair: also clears away what an interrupted operation left in the device directory.
    ///   - openFile: the file that a volume has open for an inode of the host, if it has. What others write is looked
    ///     at through it, because only it knows which write is under way.
    ///   - progress: bytes looked at.
    public func check(
        repair: Bool = false, openFile: (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> DeviceCheck {
        var check = DeviceCheck()
        try checkLeftovers(repair: repair, into: &check)
        var total: Int64 = 0
        let places = checkedContainers
        for place in places {
            guard let container = try? directory.container(place.kind, place.uuid) else { continue }
            // Only a measure: what cannot be counted is not waited for.
            total += (try? container.contentSize()) ?? 0
        }
        var looked: Int64 = 0
        let follow: (Int64) -> Bool = { count in
            looked += count
            return progress(DeviceProgress(unit: .bytes, completed: min(looked, total), total: total))
        }
        for app in apps {
            // Not by optional chaining: the compiler (Swift 6.3.1) then never closes the container's descriptor.
            guard let container = try? directory.container(.bundle, app.bundle) else { continue }
            total += (try? container.openDirectory(app.bundleName).contentSize()) ?? 0
        }
        for app in apps { try checkBundle(of: app, into: &check, follow) }
        for place in places {
            let container: Descriptor
            do throws(SystemError) {
                container = try open(place)
            } catch {
                // It may have been uninstalled meanwhile.
                if checkedContainers.contains(where: { $0.kind == place.kind && $0.name == place.name }) {
                    let message = "the container is missing: \(error.message)"
                    check.problems.append(DeviceCheck.Problem(container: place.name, path: "", message: message))
                }
                continue
            }
            let isPrivileged = ContainerOwner.current.user == 0
            var walk = ContainerCheck(name: place.name, context: context, isPrivileged: isPrivileged)
            guard walk.run(container, openFile: openFile, into: &check, progress: follow) else {
                throw Device.incomplete
            }
        }
        return check
    }

    private static let incomplete = Complaint(.unexpected, "cancelled; the check is not complete")

    /// Reads every file of a bundle.
    private func checkBundle(
        of app: InstalledApp, into check: inout DeviceCheck, _ progress: (Int64) -> Bool
    ) throws(Complaint) {
        let name = app.identifier.text
        do throws(Complaint) {
            let bundle = try sealedBundle(of: app)
            let tree = try Complaint.wrap("cannot look at it") { () throws(SystemError) in
                try BundleTree(of: bundle.root)
            }
            var comparison = BundleComparison(bundle, tree, readingAll: true)
            let finished = try Complaint.wrap("cannot read it") { () throws(SystemError) in
                try comparison.read(context, progress)
            }
            guard finished else { throw Complaint.cancelled }
            check.files += comparison.count
            for path in comparison.breaks.sorted() {
                check.problems.append(
                    DeviceCheck.Problem(
                        container: name, path: "\(app.bundleName.text)/\(path)", message: "is not what was installed"))
            }
        } catch {
            if error == .cancelled { throw Device.incomplete }
            // It may have been uninstalled meanwhile.
            guard apps.contains(where: { $0.bundle == app.bundle }) else { return }
            check.problems.append(
                DeviceCheck.Problem(container: name, path: app.bundleName.text, message: error.message))
        }
    }

    private struct CheckedContainer: Equatable {
        let name: String
        let kind: ContainerKind
        let uuid: ContainerUUID
    }

    /// Opens a container, by the name that an update may be giving it.
    private func open(_ place: CheckedContainer) throws(SystemError) -> Descriptor {
        if let container = try? directory.container(place.kind, place.uuid) { return container }
        awaitChange()
        let present = checkedContainers.first { $0.kind == place.kind && $0.name == place.name } ?? place
        return try directory.container(present.kind, present.uuid)
    }

    /// Every data, group and iCloud container, once; those that wait for their apps among them.
    private var checkedContainers: [CheckedContainer] {
        var places: [CheckedContainer] = []
        for app in apps {
            places.append(CheckedContainer(name: app.identifier.text, kind: .data, uuid: app.data))
            let shared = app.groups.map { ($0, ContainerKind.group) } + app.iCloud.map { ($0, ContainerKind.iCloud) }
            for (container, kind) in shared {
                let place = CheckedContainer(name: container.identifier.text, kind: kind, uuid: container.uuid)
                if !places.contains(place) { places.append(place) }
            }
        }
        for waiting in registry.waiting {
            places.append(CheckedContainer(name: waiting.identifier.text, kind: waiting.kind, uuid: waiting.uuid))
        }
        return places
    }

    private func checkLeftovers(repair: Bool, into check: inout DeviceCheck) throws(Complaint) {
        // No operation is under way while this looks, or its work would be taken for a leftover.
        let found = try changing { (changes) throws(Complaint) in
            let found = try directory.leftovers(keeping: stagingUse.names)
            if repair, !found.isEmpty { try changes.removeLeftovers() }
            return found
        }
        let problems = found.map {
            DeviceCheck.Problem(container: "device", path: $0, message: "left by an interrupted operation")
        }
        if repair { check.repaired += problems } else { check.problems += problems }
    }
}
