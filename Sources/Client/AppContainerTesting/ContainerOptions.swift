// What a test's device is to be like.

/// The device that a test asks for.
public struct ContainerOptions: Hashable, Sendable {
    /// Where the app of a test comes from.
    public enum Source: Hashable, Sendable {
        /// A `.app` directory or an `.ipa` of the host, which is installed on a new device. Relative paths begin at the
        /// working directory, which is the package's under `swift test`.
        case app(String)
        /// A device that somebody has prepared, and the identifier of an app on it; of its only one when nil.
        case device(String, app: String?)
    }

    public var source: Source
    /// The device's passcode: what it gets, or, of one that was prepared, what it has. None when nil.
    public var passcode: String?
    /// Identifiers of group containers that the app is entitled to.
    public var groups: [String]
    /// Identifiers of iCloud containers that the app is entitled to.
    public var iCloud: [String]
    /// Bytes that the device holds; what the host's filesystem does when nil.
    public var capacity: Int?
    /// Whether the device is unlocked when the test begins; else it is before its first unlock.
    public var isUnlocked: Bool
    /// Whether the app counts as running for as long as the test lasts: nothing of it is purged then.
    public var isRunning: Bool

    public init(
        _ source: Source, passcode: String? = nil, groups: [String] = [], iCloud: [String] = [],
        capacity: Int? = nil, isUnlocked: Bool = true, isRunning: Bool = false
    ) {
        self.source = source
        self.passcode = passcode
        self.groups = groups
        self.iCloud = iCloud
        self.capacity = capacity
        self.isUnlocked = isUnlocked
        self.isRunning = isRunning
    }
}
