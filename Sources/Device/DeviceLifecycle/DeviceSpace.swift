// The space that the containers of a device take of the host, kept up to date with each operation.
// Lock: none. The ledger is atomic; a count has a lock of its own there.

public import BackingStore
import Platform
public import SandboxModel
import Synchronization

/// The space of a device: what operations need, bring and take.
final class DeviceSpace: Sendable {
    private let directory: DeviceDirectory
    private let ledger: SpaceLedger
    private let isCounted: Atomic<Bool>

    /// - Parameter isCounted: whether the ledger began with the right figure.
    init(_ directory: DeviceDirectory, _ ledger: SpaceLedger, isCounted: Bool) {
        self.directory = directory
        self.ledger = ledger
        self.isCounted = Atomic(isCounted)
    }

    // MARK: Counting

    /// Whether the containers have yet to be counted.
    var needsCount: Bool { !isCounted.load(ordering: .acquiring) }

    /// Bytes that the containers take; nil where that is not known.
    var used: Int64? { needsCount ? nil : ledger.used }

    /// Counts the containers anew, while they are in use.
    /// - Parameters:
    ///   - content: the files that are open.
    ///   - goOn: false ends the count, without a result.
    func count(besides content: OpenFileRegistry, atRest: (() -> Void) -> Void, while goOn: () -> Bool) {
        guard let containers = try? directory.containerTree() else { return }
        // Only a count to its end makes the figure one that the next session can begin with.
        if ledger.count(below: containers, besides: content, atRest: atRest, while: goOn) {
            isCounted.store(true, ordering: .releasing)
        }
    }

    /// Counts a container that is an app's now, and in its place.
    func countComing(_ kind: ContainerKind, _ uuid: ContainerUUID) {
        guard let container = try? directory.container(kind, uuid) else { return }
        countComing(container)
    }

    /// Adds a tree.
    func countComing(_ tree: borrowing Descriptor) {
        // A tree that cannot be looked through is counted with the next count of the device.
        guard let bytes = try? ledger.bytes(below: tree) else { return }
        add(bytes)
    }

    /// Subtracts containers that are no app's any more. They are in their places.
    func countGoing(_ containers: [(kind: ContainerKind, uuid: ContainerUUID)]) {
        countGoing(
            containers.compactMap { kind, uuid in
                try? SharedDescriptor(directory.container(kind, uuid))
            })
    }

    /// Subtracts trees. A file that has a name in another container, such as a group's, stays counted.
    func countGoing(_ trees: [SharedDescriptor]) {
        guard let bytes = try? ledger.bytes(goingWith: trees) else { return }
        add(-bytes)
    }

    /// Adds bytes of files that no caller has reported one by one; a count that is under way begins anew.
    func add(_ bytes: Int64) {
        ledger.add(bytes)
        ledger.disturbCount()
    }

    /// Adds the bytes of one file or directory that no other process can reach yet.
    func addNew(_ bytes: Int64) {
        ledger.add(bytes)
    }

    // MARK: Measuring

    /// Whether the device has a capacity of its own.
    var isBounded: Bool { ledger.capacity != nil }

    /// - Throws: ``Complaint`` of kind `noSpace` where the device's own capacity is exceeded. The host's is found out
    ///   by writing.
    func requireSpace(for bytes: Int64, doing: String) throws(Complaint) {
        let available = ledger.figures.available
        guard isBounded, bytes > available else { return }
        throw Complaint(
            .noSpace,
            "\(doing): it takes \(bytes) bytes, and \(available) are available; remove something, or free space with: "
                + "appcontainer purge \(directory.path) --free \(bytes)")
    }

    /// Bytes of the host that an empty directory counts for.
    var directoryBytes: Int64 { ledger.weights.directory }

    /// Bytes of the host that one file counts for.
    func bytes(_ status: FileStatus) -> Int64 { ledger.weights.bytes(status) }

    /// Bytes of the host that a file or a tree takes.
    func bytes(of name: FileName, in directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        let status = try directory.status(of: name)
        guard status.kind == .directory else { return bytes(status) }
        return try ledger.bytes(below: try directory.openDirectory(name))
    }

    /// Bytes of the host that the entries of a directory take.
    func bytes(in directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        var total: Int64 = 0
        for name in try directory.names(where: { _ in true }) { total += try bytes(of: name, in: directory) }
        return total
    }

    /// Bytes of the host that a container takes; 0 where it cannot be looked through.
    func bytes(of kind: ContainerKind, _ uuid: ContainerUUID) -> Int64 {
        guard let container = try? directory.container(kind, uuid) else { return 0 }
        return (try? ledger.bytes(below: container)) ?? 0
    }

    /// Bytes of the host that a name in the staging directory takes; 0 where it cannot be looked through.
    func stagedBytes(_ name: FileName) -> Int64 {
        guard let staging = try? directory.staging() else { return 0 }
        return (try? bytes(of: name, in: staging)) ?? 0
    }
}

extension SpaceLedger {
    /// The ledger of a device at its boot, with the figure that the last session left.
    convenience init(of directory: DeviceDirectory, _ session: DeviceSession) {
        let settings = directory.settings
        // A host that does not name its filesystem costs nothing but a little accuracy.
        let host = (try? directory.root.filesystemType()) ?? (type: 0, blockSize: 0)
        self.init(
            used: session.used ?? 0, capacity: settings.capacity, marks: settings.marks ?? .usual,
            weights: SpaceWeights(ofFilesystem: host.type, blockSize: host.blockSize),
            host: { directory.hostSpace })
    }
}

extension BootedDevice {
    /// Whether the containers have yet to be counted: the session before did not end in order, or the device was copied
    /// here.
    public var needsSpaceCount: Bool { space.needsCount }

    /// Counts what the containers take, while they are in use.
    /// - Parameter goOn: false ends the count; the next session begins it anew.
    public func countSpace(while goOn: () -> Bool) {
        space.count(besides: context.openFiles, atRest: { installedApps.atRest($0) }, while: goOn)
    }

    /// Gives the device another capacity, or other marks.
    /// - Parameters:
    ///   - capacity: bytes; nil for that of the host's filesystem.
    ///   - marks: when something is purged.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    public func bound(capacity: Int64?, marks: SpaceMarks) throws(Complaint) {
        try StoredDevice.requireUsable(capacity: capacity)
        try installedApps.changing { (_) throws(Complaint) in
            try directory.changeSettings(holding: lock) { settings in
                settings.capacity = capacity
                settings.lowWater = marks == .usual ? nil : marks.low
                settings.highWater = marks == .usual ? nil : marks.high
            }
            context.space.bound(capacity: capacity, marks: marks)
        }
    }
}
