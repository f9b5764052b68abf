// Options of a test's device.

/// The device that a test asks for.
public struct ContainerOptions: Hashable, Sendable {
    /// The origin of a test's app.
    public enum Source: Hashable, Sendable {
        /// A `.app` directory or an `.ipa`, installed on a new device. Relative paths start at the working directory,
        /// which is the package's under `swift test`.
        case app(String)
        /// A prepared device, and the identifier of an app on it; nil for its only app.
        case device(String, app: String?)
    }

    public var source: Source
    /// The passcode that a new device gets, or that a prepared one has. No passcode if nil.
    public var passcode: String?
    /// Identifiers of group containers that the app is entitled to.
    public var groups: [String]
    /// Identifiers of iCloud containers that the app is entitled to.
    public var iCloud: [String]
    /// The device's capacity in bytes; nil for that of the host's filesystem.
    public var capacity: Int?
    /// Whether the device is unlocked when the test begins. Otherwise it is before first unlock.
    public var isUnlocked: Bool
    /// Whether the app counts as running during the test, so that nothing of it is purged. It does unless a test says
    /// otherwise, because the test is the app.
    public var isRunning: Bool
    /// The seed of a new device that disobeys at times, with an event `disobeyed`; nil for one that obeys.
    public var capricious: String?

    public init(
        _ source: Source, passcode: String? = nil, groups: [String] = [], iCloud: [String] = [],
        capacity: Int? = nil, isUnlocked: Bool = true, isRunning: Bool = true,
        capricious: String? = nil
    ) {
        self.source = source
        self.passcode = passcode
        self.groups = groups
        self.iCloud = iCloud
        self.capacity = capacity
        self.isUnlocked = isUnlocked
        self.isRunning = isRunning
        self.capricious = capricious
    }
}
