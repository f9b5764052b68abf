// Devices that live as long as who made them: what `appcontainer own` is told, and what it answers.

/// A device to make, which lasts as long as its owner: one line of JSON on the standard input of `appcontainer own`.
///
/// The device goes, with its mounts and all that runs in it, when that input ends. Where it is neither to be a copy nor
/// to be made new, it is there already: its daemon is started if need be, and goes on like the device.
public struct DeviceOrder: Codable, Sendable {
    /// How a new device is made.
    public struct Settings: Codable, Hashable, Sendable {
        /// None when null.
        public var passcode: String?
        /// Bytes that it holds; what the host's filesystem does when null.
        public var capacity: Int64?
        /// Seconds for which it stays unlocked after it was told to lock, from 0 to 86400; 10 when null.
        public var lockGrace: Double?
        /// How slow a guess of the passcode is, from 1 to 20; about 80 ms when null.
        public var kdfCost: Int?

        public init(
            passcode: String? = nil, capacity: Int64? = nil, lockGrace: Double? = nil, kdfCost: Int? = nil
        ) {
            self.passcode = passcode
            self.capacity = capacity
            self.lockGrace = lockGrace
            self.kdfCost = kdfCost
        }
    }

    /// The absolute path of the device's directory, which is made.
    public var device: String
    /// The absolute path of a device that is shut down and that the new one is a copy of.
    public var clone: String?
    /// How it is made new.
    public var create: Settings?
    /// Apps to install, before there is an answer.
    public var install: [InstallRequest]?
    /// Whether the device is not served, but shut down to be cloned, by any number of others at once. False when null.
    public var template: Bool?
    /// Whether the device stays, shut down, when its owner has gone. False when null.
    public var keep: Bool?

    public init(
        device: String, clone: String? = nil, create: Settings? = nil, install: [InstallRequest]? = nil,
        template: Bool? = nil, keep: Bool? = nil
    ) {
        self.device = device
        self.clone = clone
        self.create = create
        self.install = install
        self.template = template
        self.keep = keep
    }
}

/// How the start of a device's daemon went.
public struct StartReport: Codable, Hashable, Sendable {
    /// The daemon's process.
    public var pid: Int32?
    /// The path of the control socket; null for a template, and when the start failed.
    public var socket: String?
    /// The apps that were to be installed, in the order in which they were named.
    public var apps: [App]?
    /// What whoever started it should know, one line each.
    public var warnings: [String]?
    /// Why it failed.
    public var complaint: DeviceError?

    public init(
        pid: Int32? = nil, socket: String? = nil, apps: [App]? = nil, warnings: [String]? = nil,
        complaint: DeviceError? = nil
    ) {
        self.pid = pid
        self.socket = socket
        self.apps = apps
        self.warnings = warnings
        self.complaint = complaint
    }
}
