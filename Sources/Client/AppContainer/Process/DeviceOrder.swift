// The order to a process `appcontainer own`: a device to make, or to start.

/// The order for a device that lasts as long as its owner: a line of JSON on standard input of `appcontainer own`.
///
/// When that input ends, the process ends all that runs in the device, unmounts it and deletes it. An order with
/// neither `clone` nor `create` names a device that exists: its daemon is started if necessary, and device and daemon
/// stay.
public struct DeviceOrder: Codable, Sendable {
    /// The settings of a new device.
    public struct Settings: Codable, Hashable, Sendable {
        /// The passcode; none when null.
        public var passcode: String?
        /// The capacity in bytes; that of the host's filesystem when null.
        public var capacity: Int64?
        /// The grace period of a lock in seconds, from 0 to 86400; 10 when null.
        public var lockGrace: Double?
        /// The cost of a guess of the passcode, from 1 to 20; about 80 ms when null.
        public var kdfCost: Int?
        /// The seed of a device that disobeys at times; null for one that obeys.
        public var capricious: String?

        public init(
            passcode: String? = nil, capacity: Int64? = nil, lockGrace: Double? = nil, kdfCost: Int? = nil,
            capricious: String? = nil
        ) {
            self.capricious = capricious
            self.passcode = passcode
            self.capacity = capacity
            self.lockGrace = lockGrace
            self.kdfCost = kdfCost
        }
    }

    /// The absolute path of the device's directory.
    public var device: String
    /// The absolute path of a device that is shut down, to copy.
    public var clone: String?
    /// The settings of a device to make from nothing.
    public var create: Settings?
    /// Apps to install before the answer.
    public var install: [InstallRequest]?
    /// Whether the device is shut down rather than served, so that others can copy it. False when null.
    public var template: Bool?
    /// Whether the device stays, shut down, when its owner ends. False when null.
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

    /// Checks the paths, and each request in ``install``.
    /// - Throws: an error of kind `badRequest`.
    package func check() throws(DeviceError) {
        guard !device.isEmpty else { throw DeviceError(.badRequest, "device has to be an absolute path") }
        try requireAbsolute(device, "device")
        if let clone { try requireAbsolute(clone, "clone") }
        for request in install ?? [] { try request.check() }
    }
}
