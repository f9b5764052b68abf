// The registry of a booted device: which apps there are, changed by one operation at a time.
// Locks: `changes` is held for the whole of an operation that changes apps or containers; `state` below it, for moments
// only.

import BackingStore
import Platform
import SandboxModel
import Synchronization

/// The apps of a device, and the right to change them.
final class InstalledApps: Sendable {
    private struct State {
        var registry: AppRegistry
        var hasEnded = false
    }

    private let directory: DeviceDirectory
    private let lock: DeviceLock
    private let space: DeviceSpace
    private let state: Mutex<State>
    private let changes = ReadWriteLock()

    /// - Parameter space: learns of the containers that come and go with a change.
    init(_ registry: AppRegistry, in held: HeldDirectory, space: DeviceSpace) {
        directory = held.directory
        lock = held.lock
        self.space = space
        state = Mutex(State(registry: registry))
    }

    /// The registry as of now. Only within ``changing(_:)`` does it stay the same.
    var registry: AppRegistry { state.withLock { $0.registry } }

    /// - Throws: ``Complaint`` of kind `unknownApp`.
    func app(_ identifier: ContainerIdentifier) throws(Complaint) -> InstalledApp {
        guard let app = installed(identifier) else { throw unknownApp(identifier) }
        return app
    }

    /// - Returns: nil for an app that is not installed.
    func installed(_ identifier: ContainerIdentifier) -> InstalledApp? {
        registry.apps.first { $0.identifier == identifier }
    }

    func unknownApp(_ identifier: ContainerIdentifier) -> Complaint {
        Complaint(
            .unknownApp, "\(identifier) is not installed; see what is with: appcontainer apps \(directory.path)")
    }

    // MARK: Changes

    /// Runs an operation that changes apps or containers. No other such operation runs meanwhile.
    func changing<Result: Sendable>(
        _ body: (AppChanges) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        try changes.writing { () throws(Complaint) in try body(AppChanges(self)) }
    }

    /// Waits until no such operation is under way, so that the names of containers agree with the registry.
    func awaitChange() {
        changes.writing {}
    }

    /// Runs a step of a count while no container comes or goes. The body must be short: operations wait for it.
    func atRest(_ body: () -> Void) {
        changes.writing(body)
    }

    /// Runs the last operation. This process may change nothing of the device after it.
    func end(_ body: () throws(Complaint) -> Void) throws(Complaint) {
        try changes.writing { () throws(Complaint) in
            state.withLock { $0.hasEnded = true }
            try body()
        }
    }

    /// Whether ``end(_:)`` has begun: another process may have the device soon.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Durable when it returns. After an error Apps.json may have been replaced all the same: the last step is to make
    /// the rename durable.
    fileprivate func replaceRegistry(with registry: AppRegistry) throws(Complaint) {
        try directory.replaceRegistry(registry, holding: lock)
        state.withLock { $0.registry = registry }
    }

    fileprivate func countComing(_ kind: ContainerKind, _ uuid: ContainerUUID) { space.countComing(kind, uuid) }

    fileprivate func countGoing(_ containers: [(kind: ContainerKind, uuid: ContainerUUID)]) {
        space.countGoing(containers)
    }

    fileprivate func removeLeftovers(keeping kept: Set<FileName>) throws(Complaint) {
        try directory.removeLeftovers(holding: lock, keeping: kept)
    }
}

/// The right to change the registry, which an operation has while no other is under way. It would be noncopyable, but
/// the optimizer of Swift 6.3.1 does not survive a closure that takes one.
struct AppChanges {
    private let apps: InstalledApps

    fileprivate init(_ apps: InstalledApps) {
        self.apps = apps
    }

    /// Enters an app in the registry, in place of one with its identifier: the moment at which it is installed. Its
    /// containers wait for it no longer.
    func register(_ app: InstalledApp) throws(Complaint) {
        let own = Set(app.containers.map(\.uuid))
        var registry = apps.registry
        registry.apps = registry.apps.filter { $0.identifier != app.identifier } + [app]
        registry.waiting.removeAll { own.contains($0.uuid) }
        try replaceAndCountComing(registry)
    }

    /// Enters an app and its extensions in the registry, in place of those that it has.
    /// - Parameter family: the app first.
    func register(_ family: [InstalledApp]) throws(Complaint) {
        let own = Set(family.flatMap(\.containers).map(\.uuid))
        var registry = apps.registry
        registry.apps = registry.apps.filter { $0.appIdentifier != family[0].identifier } + family
        registry.waiting.removeAll { own.contains($0.uuid) }
        try replaceAndCountComing(registry)
    }

    /// Takes an app and its extensions out of the registry: the moment at which it is gone.
    func unregister(_ app: InstalledApp) throws(Complaint) {
        var registry = apps.registry
        registry.apps.removeAll { $0.appIdentifier == app.identifier }
        try replace(with: registry)
    }

    /// Replaces the registry, and counts the containers that come and go with that. All of them are in their places.
    func replace(with registry: AppRegistry) throws(Complaint) {
        let before = apps.registry.places
        try replaceAndCountComing(registry)
        let known = registry.containers
        apps.countGoing(before.filter { !known.contains($0.uuid) })
    }

    private func replaceAndCountComing(_ registry: AppRegistry) throws(Complaint) {
        let known = apps.registry.containers
        try apps.replaceRegistry(with: registry)
        for (kind, uuid) in registry.places where !known.contains(uuid) { apps.countComing(kind, uuid) }
    }

    /// Removes what no operation can be at work on now.
    /// - Parameter kept: names in the staging directory that are in use.
    func removeLeftovers(keeping kept: Set<FileName>) throws(Complaint) {
        try apps.removeLeftovers(keeping: kept)
    }
}
