// How much the device may take of its host, and what it takes.

public import BackingStore
import Platform
public import SandboxModel
import Synchronization

extension Device {
    /// Whether it has yet to be counted what the containers take: the session before did not end in order, or the
    /// device was copied here.
    public var needsSpaceCount: Bool { !spaceIsCounted.load(ordering: .acquiring) }

    /// Counts what the containers take, while they are in use.
    /// - Parameter goOn: false ends the count; the next session begins it anew.
    public func countSpace(while goOn: () -> Bool) {
        guard let containers = try? directory.containerTree() else { return }
        let isCounted = context.space.count(
            below: containers, besides: context.openFiles, atRest: { body in changes.writing(body) }, while: goOn)
        if isCounted {
            spaceIsCounted.store(true, ordering: .releasing)
        }
    }

    /// Gives the device another capacity, or other marks.
    /// - Parameters:
    ///   - capacity: bytes; nil for that of the host's filesystem.
    ///   - marks: when something is purged.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    public func bound(capacity: Int64?, marks: SpaceMarks) throws(Complaint) {
        try Device.requireUsable(capacity: capacity)
        try changing { (_) throws(Complaint) in
            var settings = directory.settings
            settings.capacity = capacity
            settings.lowWater = marks == .usual ? nil : marks.low
            settings.highWater = marks == .usual ? nil : marks.high
            try directory.replaceSettings(with: settings, holding: lock)
            context.space.bound(capacity: capacity, marks: marks)
        }
    }

    /// - Throws: ``Complaint`` of kind `badRequest` for a capacity that no device can have.
    public static func requireUsable(capacity: Int64?) throws(Complaint) {
        guard let capacity, !DeviceSettings.capacities.contains(capacity) else { return }
        throw Complaint(.badRequest, "a capacity is at least 1M; give more, or none for that of the host")
    }

    // MARK: What operations bring and take

    /// Counts a container that has come to be an app's. It is in its place.
    func countComing(_ kind: ContainerKind, _ uuid: ContainerUUID) {
        guard let container = try? directory.container(kind, uuid) else { return }
        countComing(container)
    }

    /// As ``countComing(_:_:)``, of any tree.
    func countComing(_ tree: borrowing Descriptor) {
        // What cannot be looked through is counted when the device is counted next.
        guard let bytes = try? context.space.bytes(below: tree) else { return }
        add(bytes)
    }

    /// Counts containers for nothing that are no app's any more. They are in their places.
    func countGoing(_ containers: [(kind: ContainerKind, uuid: ContainerUUID)]) {
        countGoing(
            containers.compactMap { kind, uuid in
                try? SharedDescriptor(directory.container(kind, uuid))
            })
    }

    /// As ``countGoing(_:)``, of any trees. A file that has a name in another container, as one of a group, stays.
    func countGoing(_ trees: [SharedDescriptor]) {
        guard let bytes = try? context.space.bytes(goingWith: trees) else { return }
        add(-bytes)
    }

    private func add(_ bytes: Int64) {
        context.space.add(bytes)
        // Nobody has told of each file.
        context.space.disturbCount()
    }

    /// - Throws: ``Complaint`` of kind `noSpace`.
    func requireRoom(for bytes: Int64, doing: String) throws(Complaint) {
        let available = context.space.figures.available
        guard context.space.capacity != nil, bytes > available else { return }
        throw Complaint(
            .noSpace,
            "\(doing): it takes \(bytes) bytes, and \(available) are available; remove something, or make room with: "
                + "appcontainer purge \(directory.path) --free \(bytes)")
    }

    /// What lies in the staging directory under a name, in bytes of the host.
    func stagedBytes(_ name: FileName) -> Int64 {
        guard let staging = try? directory.staging() else { return 0 }
        return (try? stagedBytes(name, in: staging)) ?? 0
    }

    func stagedBytes(_ name: FileName, in directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        let status = try directory.status(of: name)
        guard status.kind == .directory else { return context.space.weights.bytes(status) }
        return try context.space.bytes(below: try directory.openDirectory(name))
    }
}
