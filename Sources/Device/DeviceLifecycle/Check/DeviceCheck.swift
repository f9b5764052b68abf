// The check of every file of a device: its header, its length, and each of its blocks.

public import BackingStore
import BundleSeal
import Platform
public import SandboxModel

/// The result of a check.
public struct DeviceCheck: Equatable, Sendable {
    /// One thing that is wrong.
    public struct Problem: Hashable, Sendable {
        /// The app, group or iCloud container; `device` for the device itself.
        public let container: String
        /// From the container's top; empty for the container itself.
        public let path: String
        /// The flaw, and its place in the file.
        public let message: String
    }

    /// Files that were checked as a whole.
    public internal(set) var files = 0
    /// Files whose class keeps their content closed in the device's present state.
    public internal(set) var unreadable = 0
    public internal(set) var problems: [Problem] = []
    /// The leftovers that `repair` has removed.
    public internal(set) var repaired: [Problem] = []
}

extension BootedDevice {
    /// Checks every file of every app, mounted or not, and that none has a set-ID bit on the host. Content is never
    /// changed.
    ///
    /// - Parameters:
    ///   - repair: also removes what an interrupted operation left in the device directory, and set-ID bits of backing
    ///     files in containers.
    ///   - openFile: the file that a volume has open for an inode of the host; nil if none has. A file that is being
    ///     written is read through it, because only it knows which write is under way.
    ///   - progress: bytes checked.
    /// - Throws: ``Complaint`` of kind `unexpected` when `progress` ends the check.
    public func check(
        repair: Bool = false, openFile: (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> DeviceCheck {
        var run = DeviceCheckRun(self)
        run.checkSessions()
        run.checkBackupPassword()
        try run.checkLeftovers(repair: repair)
        // Taken once: apps may come and go meanwhile.
        let (total, containers) = (run.totalBytes, run.containers)
        var checked: Int64 = 0
        let follow: (Int64) -> Bool = { count in
            checked += count
            return progress(DeviceProgress(unit: .bytes, completed: min(checked, total), total: total))
        }
        for app in apps { try run.checkBundle(of: app, follow) }
        for container in containers {
            try run.check(container, repair: repair, openFile: openFile, progress: follow)
        }
        return run.result
    }
}

/// One check of a device, and what it has found so far.
private struct DeviceCheckRun {
    /// A container, and the identifier under which its problems are reported.
    struct Container: Equatable {
        let name: String
        let kind: ContainerKind
        let uuid: ContainerUUID
    }

    private(set) var result = DeviceCheck()
    private let device: BootedDevice

    /// Thrown in place of ``Complaint/cancelled``, whose words are those of a change.
    private static let incomplete = Complaint(.unexpected, "cancelled; the check is not complete")

    init(_ device: BootedDevice) {
        self.device = device
    }

    /// Every data, group and iCloud container, once; those that wait for their apps among them.
    var containers: [Container] {
        let registry = device.registry
        var containers: [Container] = []
        for app in registry.apps {
            containers.append(Container(name: app.identifier.text, kind: .data, uuid: app.data))
            let shared = app.groups.map { ($0, ContainerKind.group) } + app.iCloud.map { ($0, ContainerKind.iCloud) }
            for (place, kind) in shared {
                let container = Container(name: place.identifier.text, kind: kind, uuid: place.uuid)
                if !containers.contains(container) { containers.append(container) }
            }
        }
        for waiting in registry.waiting {
            containers.append(Container(name: waiting.identifier.text, kind: waiting.kind, uuid: waiting.uuid))
        }
        return containers
    }

    /// Bytes that are to be checked. A container that cannot be measured is left out.
    var totalBytes: Int64 {
        var total: Int64 = 0
        for place in containers {
            guard let container = try? device.directory.container(place.kind, place.uuid) else { continue }
            total += (try? container.contentSize()) ?? 0
        }
        for app in device.apps where app.place == nil {
            // Not by optional chaining: the compiler (Swift 6.3.1) then never closes the container's descriptor.
            guard let container = try? device.directory.container(.bundle, app.bundle) else { continue }
            total += (try? container.openDirectory(app.bundleName).contentSize()) ?? 0
        }
        return total
    }

    /// Reports a record of sessions that this session found missing or changed.
    mutating func checkSessions() {
        guard device.session.start == .unknown else { return }
        report(
            "was missing or not written by this device; no file that was cut is believed on its word",
            at: DeviceDirectory.Name.sessions.text, of: "device")
    }

    /// Reports a record of the backup password that cannot be read.
    mutating func checkBackupPassword() {
        do throws(Complaint) {
            _ = try device.backupPassword.keybag()
        } catch {
            let isDamaged = error.kind == .damaged
            report(
                isDamaged ? "is damaged; set another backup password, or remove it" : error.message,
                at: DeviceDirectory.Name.passwordKeybag.text, of: "device")
        }
    }

    /// Reports or removes what an interrupted operation left.
    mutating func checkLeftovers(repair: Bool) throws(Complaint) {
        // While no operation is under way: its work would be taken for a leftover.
        let found = try device.installedApps.changing { (changes) throws(Complaint) in
            let kept = device.staging.namesInUse
            let found = try device.directory.leftovers(keeping: kept)
            if repair, !found.isEmpty { try changes.removeLeftovers(keeping: kept) }
            return found
        }
        let problems = found.map {
            DeviceCheck.Problem(container: "device", path: $0, message: "left by an interrupted operation")
        }
        if repair { result.repaired += problems } else { result.problems += problems }
    }

    /// Reads every file of a bundle.
    mutating func checkBundle(of app: InstalledApp, _ progress: (Int64) -> Bool) throws(Complaint) {
        let name = app.identifier.text
        do throws(Complaint) {
            let bundle = try device.bundles.open(app)
            let tree = try Complaint.wrap("cannot look at it") { () throws(SystemError) in
                try BundleTree(of: bundle.root)
            }
            var comparison = BundleComparison(bundle, tree, readingAll: true)
            let finished = try Complaint.wrap("cannot read it") { () throws(SystemError) in
                try comparison.read(device.context, progress)
            }
            guard finished else { throw Complaint.cancelled }
            result.files += comparison.count
            for entry in tree.entries where entry.status.hasSetID {
                report(FileStatus.setIDProblem, at: "\(app.bundleName.text)/\(entry.path.text)", of: name)
            }
            for path in comparison.breaks.sorted() {
                report("is not what was installed", at: "\(app.bundleName.text)/\(path)", of: name)
            }
        } catch {
            if error == .cancelled { throw DeviceCheckRun.incomplete }
            // It may have been uninstalled meanwhile.
            guard device.apps.contains(where: { $0.bundle == app.bundle }) else { return }
            report(error.message, at: app.bundleName.text, of: name)
        }
    }

    /// Checks one container.
    /// - Parameter progress: gets the number of bytes checked since its last call; false ends the check.
    mutating func check(
        _ place: Container, repair: Bool, openFile: (UInt64) -> EncryptedFile?, progress: (Int64) -> Bool
    ) throws(Complaint) {
        let container: Descriptor
        do throws(SystemError) {
            container = try open(place)
        } catch {
            // It may have been uninstalled meanwhile.
            if containers.contains(where: { $0.kind == place.kind && $0.name == place.name }) {
                report("the container is missing: \(error.message)", at: "", of: place.name)
            }
            return
        }
        var walk = ContainerCheck(name: place.name, context: device.context, repairs: repair)
        guard walk.run(container, openFile: openFile, into: &result, progress: progress) else {
            throw DeviceCheckRun.incomplete
        }
    }

    private mutating func report(_ message: String, at path: String, of container: String) {
        result.problems.append(DeviceCheck.Problem(container: container, path: path, message: message))
    }

    /// Opens a container, by the name that an update may be giving it.
    private func open(_ place: Container) throws(SystemError) -> Descriptor {
        if let container = try? device.directory.container(place.kind, place.uuid) { return container }
        device.awaitChange()
        let present = containers.first { $0.kind == place.kind && $0.name == place.name } ?? place
        return try device.directory.container(present.kind, present.uuid)
    }
}
