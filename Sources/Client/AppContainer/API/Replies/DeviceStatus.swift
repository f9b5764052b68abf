// The reply about the state of a device, also of one without a daemon.

/// The state of a device, its daemon and its mounts.
public struct DeviceStatus: Codable, Hashable, Sendable {
    /// `off`, `unknown`, or one of `beforeFirstUnlock`, `unlocked`, `locking`, `locked`.
    public var state: String
    /// The device's directory.
    public var device: String
    /// The device's UUID, which a clone does not share.
    public var identifier: String
    public var hasPasscode: Bool
    /// Wrong passcodes since the last right one.
    public var passcodeAttempts: Int
    /// Seconds until the next passcode is let in; null while one is let in now.
    public var passcodeWait: Int64?
    /// Whether ten wrong passcodes erase the device.
    public var eraseAfterTen: Bool
    /// Whether backups have the class keys under a backup password.
    public var hasBackupPassword: Bool
    /// The seed of a device that disobeys (`create --capricious`); null for one that obeys.
    public var capricious: String?
    /// Seconds until the device is locked; null unless it is locking.
    public var graceRemaining: Double?
    /// The protection classes that can be opened now, by Foundation's raw values; none while the device is off.
    public var readable: [String]
    /// The number of apps installed.
    public var apps: Int
    /// The identifiers of the apps and groups for which a restore has brought data, and which are not installed.
    public var waiting: [String]
    /// The device's space; null while no daemon counts it.
    public var space: SpaceStatus?
    public var daemon: DaemonStatus
    public var mounts: [Mount]
    /// The identifiers of the apps that are running.
    public var running: [String]
    /// The identifiers of those among them that are suspended.
    public var suspended: [String]

    public init(
        state: String, device: String, identifier: String, hasPasscode: Bool, passcodeAttempts: Int = 0,
        passcodeWait: Int64? = nil, eraseAfterTen: Bool = false,
        hasBackupPassword: Bool = false, capricious: String? = nil, graceRemaining: Double? = nil,
        readable: [String] = [], apps: Int,
        waiting: [String] = [],
        space: SpaceStatus? = nil, daemon: DaemonStatus,
        mounts: [Mount],
        running: [String] = [], suspended: [String] = []
    ) {
        self.state = state
        self.device = device
        self.identifier = identifier
        self.hasPasscode = hasPasscode
        self.passcodeAttempts = passcodeAttempts
        self.passcodeWait = passcodeWait
        self.eraseAfterTen = eraseAfterTen
        self.hasBackupPassword = hasBackupPassword
        self.capricious = capricious
        self.graceRemaining = graceRemaining
        self.readable = readable
        self.apps = apps
        self.waiting = waiting
        self.space = space
        self.daemon = daemon
        self.mounts = mounts
        self.running = running
        self.suspended = suspended
    }

    private enum CodingKeys: CodingKey {
        case state, device, identifier, hasPasscode, passcodeAttempts, passcodeWait, eraseAfterTen, hasBackupPassword
        case capricious, graceRemaining, readable, apps, waiting, daemon, mounts, running, suspended
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        state = try container.decode(String.self, forKey: .state)
        device = try container.decode(String.self, forKey: .device)
        identifier = try container.decode(String.self, forKey: .identifier)
        hasPasscode = try container.decode(Bool.self, forKey: .hasPasscode)
        passcodeAttempts = try container.decodeIfPresent(Int.self, forKey: .passcodeAttempts) ?? 0
        passcodeWait = try container.decodeIfPresent(Int64.self, forKey: .passcodeWait)
        eraseAfterTen = try container.decodeIfPresent(Bool.self, forKey: .eraseAfterTen) ?? false
        hasBackupPassword = try container.decodeIfPresent(Bool.self, forKey: .hasBackupPassword) ?? false
        capricious = try container.decodeIfPresent(String.self, forKey: .capricious)
        graceRemaining = try container.decodeIfPresent(Double.self, forKey: .graceRemaining)
        readable = try container.decode([String].self, forKey: .readable)
        apps = try container.decode(Int.self, forKey: .apps)
        waiting = try container.decodeIfPresent([String].self, forKey: .waiting) ?? []
        space = try SpaceStatus(ofStatus: decoder)
        daemon = try container.decode(DaemonStatus.self, forKey: .daemon)
        mounts = try container.decode([Mount].self, forKey: .mounts)
        running = try container.decode([String].self, forKey: .running)
        suspended = try container.decodeIfPresent([String].self, forKey: .suspended) ?? []
    }

    /// Writes null where there is no grace period, and where nobody counts the space, so that a script finds the keys
    /// in every answer. The figures of ``space`` are among the keys of the status itself.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state, forKey: .state)
        try container.encode(device, forKey: .device)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(hasPasscode, forKey: .hasPasscode)
        try container.encode(passcodeAttempts, forKey: .passcodeAttempts)
        try container.encode(passcodeWait, forKey: .passcodeWait)
        try container.encode(eraseAfterTen, forKey: .eraseAfterTen)
        try container.encode(hasBackupPassword, forKey: .hasBackupPassword)
        try container.encode(capricious, forKey: .capricious)
        try container.encode(graceRemaining, forKey: .graceRemaining)
        try container.encode(readable, forKey: .readable)
        try container.encode(apps, forKey: .apps)
        try container.encode(waiting, forKey: .waiting)
        try SpaceStatus.encode(space, ofStatus: encoder)
        try container.encode(daemon, forKey: .daemon)
        try container.encode(mounts, forKey: .mounts)
        try container.encode(running, forKey: .running)
        try container.encode(suspended, forKey: .suspended)
    }

    /// The state of a device that no daemon serves.
    public static let off = "off"
    /// The state of a device that another user's daemon serves, which does not answer this one.
    public static let unknown = "unknown"
}

/// The process that serves a device; both values are null while there is none.
public struct DaemonStatus: Codable, Hashable, Sendable {
    public var pid: Int32?
    /// The path of the control socket; null as well where the process is another user's.
    public var socket: String?

    public init(pid: Int32?, socket: String?) {
        self.pid = pid
        self.socket = socket
    }

    public static let off = DaemonStatus(pid: nil, socket: nil)

    private enum CodingKeys: CodingKey {
        case pid, socket
    }

    /// Writes null where there is no daemon, so that a script finds the keys in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pid, forKey: .pid)
        try container.encode(socket, forKey: .socket)
    }
}
