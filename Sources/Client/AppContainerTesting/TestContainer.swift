// The container of one test: its device, mounted and at hand.

public import AppContainer
import ContainerFoundation
public import FoundationEssentials
import Synchronization

/// An app's container on a device of a test's own.
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
    private let isRunning: Bool
    private let mount: Mutex<Mount>
    /// What the record had when the test began.
    let earlier: EarlierEvents

    /// - Parameter isRunning: whether the app counts as running while it is mounted.
    init(mounting app: String, of device: Device, isRunning: Bool) async throws(DeviceError) {
        self.device = device
        self.app = app
        self.isRunning = isRunning
        mount = Mutex(try await device.mount(app, running: isRunning))
        earlier = EarlierEvents(try await device.recordedEvents())
    }

    /// The path of the app's home: the mount point. It is another after ``update(to:)``.
    public var home: String { mount.withLock { $0.mountPoint } }

    /// The whole path of a place in the app's home.
    /// - Parameter path: relative to the home, such as `Documents/notes.db`.
    public func path(_ path: String) -> String { path.isEmpty ? home : "\(home)/\(path)" }

    /// A place in the app's home as a URL.
    /// - Parameter path: relative to the home, such as `Documents/notes.db`.
    public func url(_ path: String) -> URL { URL(filePath: self.path(path)) }

    /// The whole path of a place in a group container that the app is entitled to.
    /// - Parameters:
    ///   - group: the group's identifier.
    ///   - path: relative to the container.
    public func path(inGroup group: String, _ path: String = "") -> String {
        self.path(path.isEmpty ? "Groups/\(group)" : "Groups/\(group)/\(path)")
    }

    /// A place in a group container that the app is entitled to, as a URL.
    /// - Parameters:
    ///   - group: the group's identifier.
    ///   - path: relative to the container.
    public func url(inGroup group: String, _ path: String = "") -> URL {
        URL(filePath: self.path(inGroup: group, path))
    }

    /// A path relative to the app's home.
    /// - Parameter path: relative already, or one below ``home``.
    func relative(_ path: String) -> String {
        path == home ? "" : path.hasPrefix(home + "/") ? String(path.dropFirst(home.count + 1)) : path
    }

    // MARK: What happens to a phone

    /// Locks the device, at once.
    public func lock() async throws(DeviceError) { try await device.lock(now: true) }

    /// Unlocks the device.
    public func unlock() async throws(DeviceError) { try await device.unlock() }

    /// Does to the device what a reboot does: with a passcode it is before its first unlock then. The mount stays.
    public func restart() async throws(DeviceError) { try await device.restart() }

    /// Puts files or directories of the host into the app's Inbox.
    /// - Returns: their whole paths there.
    @discardableResult
    public func deliver(_ files: String...) async throws(DeviceError) -> [String] {
        try await device.deliver(files, to: app).map(path)
    }

    /// Removes what of the app may be purged; nothing while it runs.
    @discardableResult
    public func purge(_ level: PurgeRequest.Level = .critical) async throws(DeviceError) -> PurgeReport {
        try await device.purge(PurgeRequest(app: app, level: level))
    }

    /// Updates the app, as the App Store does: it is ended first, and gets a new bundle and a home with another path.
    ///
    /// ``home`` tells the new path. No file of the old home may be open: nobody goes on with it.
    /// - Throws: an error of kind `inUse`, `invalidApp`, `sealBroken`, …; the app is then as it was. `cancelled` when the task
    ///   was before it began; from then on it comes to its end.
    @discardableResult
    public func update(to path: String) async throws(DeviceError) -> App {
        // Before it has begun it can be cancelled, and not in the middle: the test would have no home.
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

    /// Runs a body for which the app's home is where it is now: code that imports ContainerFoundation takes the one where the
    /// test began for its own otherwise, as an app does that an update has not ended.
    public func inHome<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await ContainerHome.$current.withValue(home, operation: body)
    }

    private func mountAnew() async throws(DeviceError) {
        let new = try await device.mount(app, running: isRunning)
        mount.withLock { $0 = new }
    }

    /// Gives a file a protection class, or a directory the one of what is created in it from now on.
    public func setProtection(_ protection: FileProtection?, of path: String) async throws(DeviceError) {
        try await device.setProtection(protection, of: relative(path), in: app)
    }

    /// Marks a file or directory as excluded from backups.
    public func exclude(_ path: String) async throws(DeviceError) {
        try await device.exclude(relative(path), of: app)
    }

    /// What the device knows of a path.
    public func inspect(_ path: String) async throws(DeviceError) -> Inspection {
        try await device.inspect(relative(path), of: app)
    }

    /// What has happened on the device so far, and then each event as it comes.
    public var events: DeviceEvents { device.events }
}
