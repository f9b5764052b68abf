// A device for tests of purging, and the process around it as far as purging asks for it.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Purging

/// A process without mounts, whose apps run and are busy as a test says.
final class TestEnvironment: PurgeEnvironment {
    private struct State {
        var running: Set<ContainerIdentifier> = []
        var busy: Set<ContainerIdentifier> = []
        var recorded: [String] = []
        var disobeyed: [String] = []
    }

    private let state = Mutex(State())

    func begin(_ app: ContainerIdentifier) { state.withLock { _ = $0.running.insert(app) } }

    func end(_ app: ContainerIdentifier) { state.withLock { _ = $0.running.remove(app) } }

    /// Runs something while an operation is at work on an app.
    func whileBusy<Result>(_ app: ContainerIdentifier, _ body: () -> Result) -> Result {
        state.withLock { _ = $0.busy.insert(app) }
        defer { state.withLock { _ = $0.busy.remove(app) } }
        return body()
    }

    var recorded: [String] { state.withLock { $0.recorded } }
    var disobeyed: [String] { state.withLock { $0.disobeyed } }

    // MARK: PurgeEnvironment

    var runningApps: Set<ContainerIdentifier> { state.withLock { $0.running } }

    func isRunning(_ app: ContainerIdentifier) -> Bool { runningApps.contains(app) }

    func whileIdle<Result>(_ app: ContainerIdentifier, _ body: () -> Result) -> Result? {
        guard state.withLock({ $0.busy.insert(app).inserted }) else { return nil }
        defer { state.withLock { _ = $0.busy.remove(app) } }
        return body()
    }

    func volume(of app: ContainerIdentifier) -> Volume? { nil }

    func record(_ purged: [PurgeOutcome.Purged]) {
        state.withLock { $0.recorded += purged.map(\.unit.path) }
    }

    func record(_ disobeyed: [PurgeOutcome.Disobeyed]) {
        state.withLock { $0.disobeyed += disobeyed.map { "\($0.deed.rawValue) \($0.path)" } }
    }

    func logTrashFailure(_ error: SystemError) { Issue.record("the trash: \(error.message)") }
}

/// A device with an app, a purger, and files that are put into the app's caches.
final class PurgedDevice: Sendable {
    let scratch = Scratch()
    let device: BootedDevice
    let purger: Purger
    let environment = TestEnvironment()
    let container: String

    static let notes = ContainerIdentifier("com.example.Notes")!

    /// - Parameter seed: of a device that disobeys.
    init(capacity: Int64? = nil, seed: String? = nil) throws {
        try StoredDevice.create(
            at: scratch["device"],
            settings: DeviceSettings(capacity: capacity, capricious: seed.map { Capriciousness(seed: $0) }))
        device = try BootedDevice.boot(at: scratch["device"]) { Issue.record("corrupt: \($0)") }
        let staged = try device.stage(Checkout.notesApp)
        let app = try device.install(staged)
        device.discard(staged)
        container = device.directory.path(of: .data, app.data)
        purger = Purger(device, in: environment)
    }

    func start() throws { try purger.start() }

    /// Puts a file into the caches that was used so many seconds ago.
    func put(_ name: String, kibibytes: Int, age: Int64) throws {
        let path = "\(container)/\(name)"
        try Data(repeating: 1, count: kibibytes << 10).write(to: URL(filePath: path))
        try shell(
            "setfattr -n \(UseRecord.attributeName) -v \((HostTime.now.nanoseconds - age * 1_000_000_000)) '\(path)'")
        let status = try HostPath.status(path)
        device.context.space.add(status.blocks * 512)
    }

    var entries: [String] { (entries(of: "Library/Caches") + entries(of: "tmp")).sorted() }

    func entries(of place: String) -> [String] {
        (try! FileManager.default.contentsOfDirectory(atPath: "\(container)/\(place)")).map { "\(place)/\($0)" }
    }

    /// The paths of entries that were reported as purged.
    var recorded: [String] { environment.recorded }

    func purge(_ order: PurgeOrder) -> PurgeOutcome { purger.purge(order) { _ in true }! }
}
