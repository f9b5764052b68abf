// The container of one test: its device, mounted and at hand.

public import AppContainer

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
    /// The path of the app's home: the mount point.
    public let home: String

    init(device: Device, app: String, home: String) {
        self.device = device
        self.app = app
        self.home = home
    }

    /// The whole path of a place in the app's home.
    /// - Parameter path: relative to the home, such as `Documents/notes.db`.
    public func path(_ path: String) -> String { path.isEmpty ? home : "\(home)/\(path)" }

    /// A path relative to the app's home.
    /// - Parameter path: relative already, or one below ``home``.
    func relative(_ path: String) -> String {
        path == home ? "" : path.hasPrefix(home + "/") ? String(path.dropFirst(home.utf8.count + 1)) : path
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

    /// Updates the app, which is ended first if it runs: it gets a new bundle, and a container with another name.
    @discardableResult
    public func update(to path: String) async throws(DeviceError) -> App {
        try await device.install(path, terminate: true)
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
