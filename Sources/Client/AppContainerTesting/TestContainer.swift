// The container of one test, mounted on a device of its own.

public import AppContainer
import ContainerFoundation
public import FoundationEssentials
import Platform
import Synchronization

/// An app's container on the device of one test.
///
/// ```swift
/// @Test(.appContainer(app: "Fixtures/Notes.app", passcode: "1234"))
/// func notesSurviveALock() async throws {
///     let notes = AppContainer.current.path("Documents/notes.db")
///     …
///     try await AppContainer.current.lock()
/// }
/// ```
public final class TestContainer: Sendable {
    public let device: Device
    /// The app's identifier.
    public let app: String
    /// Whether the app counts as running, unless the test says otherwise.
    private let isRunning: Bool
    /// Whether it does by a mark of its own, and not by its mount any more.
    private let isMarked = Mutex(false)
    private let mount: Mutex<Mount>
    private let extensions = Mutex<[String: Task<TestContainer, any Error>]>([:])
    /// The events from before the test.
    let earlier: EarlierEvents
    /// The refusals that the test has expected, of extensions too.
    let expected: ExpectedRefusals
    /// The refusals that failures of the test have told.
    let told = ToldRefusals()

    /// - Parameter isRunning: whether the app counts as running while it is mounted.
    init(
        mounting app: String, of device: Device, isRunning: Bool, expected: ExpectedRefusals = ExpectedRefusals()
    ) async throws(DeviceError) {
        self.device = device
        self.app = app
        self.isRunning = isRunning
        self.expected = expected
        mount = Mutex(try await device.mount(app, running: isRunning))
        earlier = EarlierEvents(try await device.recordedEvents())
    }

    /// The mount point of the app's home. Changes with ``update(to:)``.
    public var home: String { mount.withLock { $0.mountPoint } }

    /// The absolute path of a file in the app's home.
    /// - Parameter path: relative to the home, such as `Documents/notes.db`.
    public func path(_ path: String) -> String { path.isEmpty ? home : "\(home)/\(path)" }

    /// The URL of a file in the app's home.
    /// - Parameter path: relative to the home, such as `Documents/notes.db`.
    public func url(_ path: String) -> URL { URL(filePath: self.path(path)) }

    /// The absolute path of a file in a group container that the app is entitled to.
    /// - Parameters:
    ///   - group: the group's identifier.
    ///   - path: relative to the container.
    public func path(inGroup group: String, _ path: String = "") -> String {
        self.path(path.isEmpty ? "Groups/\(group)" : "Groups/\(group)/\(path)")
    }

    /// The URL of a file in a group container that the app is entitled to.
    /// - Parameters:
    ///   - group: the group's identifier.
    ///   - path: relative to the container.
    public func url(inGroup group: String, _ path: String = "") -> URL {
        URL(filePath: self.path(inGroup: group, path))
    }

    /// Makes a path relative to the app's home.
    /// - Parameter path: relative, or absolute below ``home``.
    func relative(_ path: String) -> String {
        HostPath.rest(of: path, in: home) ?? path
    }

    /// The home of one of the app's extensions, mounted beside the app's from the first call on. It counts as running
    /// if the app does. An ordinary user can mount both only if they share no group.
    /// - Parameter name: that of the extension's bundle, without `.appex`.
    /// - Throws: an error of kind `notFound` for an extension that the app has not, `groupMounted`, and others of
    ///   mounting.
    public func `extension`(_ name: String) async throws -> TestContainer {
        let task = extensions.withLock { extensions in
            let task = extensions[name] ?? Task { try await mountExtension(name) }
            extensions[name] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            // The next call tries again.
            extensions.withLock { if $0[name] == task { $0[name] = nil } }
            throw error
        }
    }

    private func mountExtension(_ name: String) async throws -> TestContainer {
        let all = try await device.apps().first { $0.identifier == app }?.extensions ?? []
        guard let found = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name).joined(separator: ", ")
            throw DeviceError(
                .notFound, "\(app) has no extension \(name); it has \(names.isEmpty ? "none" : "these: \(names)")")
        }
        return try await TestContainer(
            mounting: found.identifier, of: device, isRunning: isRunning, expected: expected)
    }

    // MARK: Device and app

    /// Locks the device without grace period.
    public func lock() async throws(DeviceError) { try await device.lock(now: true) }

    /// Unlocks the device.
    public func unlock() async throws(DeviceError) { try await device.unlock() }

    /// Reboots the device: with a passcode it is before first unlock afterwards. The mount stays.
    public func restart() async throws(DeviceError) {
        try await device.restart()
        // A restart ends marks, but not those of mounts.
        for container in await [self] + mountedExtensions where container.isMarked.withLock({ $0 }) {
            try await device.markRunning(container.app)
        }
    }

    private var mountedExtensions: [TestContainer] {
        get async {
            var containers: [TestContainer] = []
            for task in extensions.withLock({ Array($0.values) }) {
                if let container = try? await task.value { containers.append(container) }
            }
            return containers
        }
    }

    /// Puts files or directories of the host into the app's Inbox.
    /// - Returns: their absolute paths there.
    @discardableResult
    public func deliver(_ files: String..., anyType: Bool = false) async throws(DeviceError) -> [String] {
        try await device.deliver(files, to: app, anyType: anyType).map(path)
    }

    /// Purges Caches and tmp of the app and its groups' Caches; nothing while it runs, as it does during a test. See
    /// ``whileNotRunning(isolation:_:)``.
    @discardableResult
    public func purge(_ level: PurgeRequest.Level = .critical) async throws(DeviceError) -> PurgeReport {
        try await device.purge(PurgeRequest(app: app, level: level))
    }

    /// Runs a body as if the app did not run: its caches may be purged, as while a person uses other apps. Processes
    /// that `run` has started are ended. Afterwards the app counts as running again, if it did before.
    @discardableResult
    public func whileNotRunning<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        guard isRunning else { return try await body() }
        do throws(DeviceError) {
            try await device.terminate(app)
        } catch {
            guard error.kind == .notRunning else { throw error }
        }
        let result: Result
        do {
            result = try await body()
        } catch {
            // The first error is the one that matters.
            try? await mark()
            throw error
        }
        try await mark()
        return result
    }

    private func mark() async throws(DeviceError) {
        // The app's end was that of its extensions too.
        for container in await [self] + mountedExtensions {
            container.isMarked.withLock { $0 = true }
            try await device.markRunning(container.app)
        }
    }

    /// Updates the app as the App Store does: terminates it, and gives it a new bundle and a home with another path.
    ///
    /// ``home`` is the new path afterwards, and that of code that imports ContainerFoundation, as for an app that is
    /// started anew. No file of the old home may be open.
    /// - Throws: an error of kind `inUse`, `invalidApp`, `sealBroken`, …; the app is then unchanged. `cancelled` if the
    ///   task was cancelled before; a cancellation during the update has no effect.
    @discardableResult
    public func update(to path: String) async throws(DeviceError) -> App {
        // Not cancelled in the middle, which would leave the test without a home.
        if Task.isCancelled { throw DeviceError(.cancelled, "cancelled") }
        let update = Task { () -> Result<App, DeviceError> in
            do throws(DeviceError) {
                return .success(try await updateMounted(to: path))
            } catch {
                return .failure(error)
            }
        }
        return try await update.value.get()
    }

    private func updateMounted(to path: String) async throws(DeviceError) -> App {
        try await device.unmount(mount.withLock { $0 })
        let updated: App
        do throws(DeviceError) {
            updated = try await device.install(path, terminate: true)
        } catch {
            try await mountAnew()
            throw error
        }
        try await mountAnew()
        return updated
    }

    /// Runs a body with the present ``home`` as the home of code that imports ContainerFoundation: for detached tasks
    /// and for an extension. The test's own task has the app's home without it, after an update too.
    ///
    /// The compiler does not see a `try` that stands within a macro: a closure whose only `try` is in `#expect(try …)`
    /// does not compile, here as anywhere. Write the `try` before the macro:
    ///
    /// ```swift
    /// try await container.inHome { try #expect(Notes().count == 1) }
    /// try await container.inHome { try await #expect(Notes().load().count == 1) }
    /// #expect(try await container.inHome { try Notes().count } == 1)
    /// let note = try await container.inHome { try #require(try Notes().first) }
    /// ```
    public func inHome<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await ContainerHome.$current.withValue(home, operation: body)
    }

    private func mountAnew() async throws(DeviceError) {
        let new = try await device.mount(app, running: isRunning)
        // The update has ended all marks.
        isMarked.withLock { $0 = false }
        let old = mount.withLock { mount in
            defer { mount = new }
            return mount.mountPoint
        }
        ContainerHome.move(old, to: new.mountPoint)
    }

    /// Sets the protection class of a file, or the class that a directory gives to files created in it from now on.
    public func setProtection(_ protection: FileProtection?, of path: String) async throws(DeviceError) {
        try await device.setProtection(protection, of: relative(path), in: app)
    }

    /// Marks a file or directory as excluded from backups.
    public func exclude(_ path: String) async throws(DeviceError) {
        try await device.exclude(relative(path), of: app)
    }

    /// Returns the facts that the device has about a path.
    public func inspect(_ path: String) async throws(DeviceError) -> Inspection {
        try await device.inspect(relative(path), of: app)
    }

    /// The events of the device so far, and then each new one.
    public var events: DeviceEvents { device.events }
}
