// A device that a process of this user serves, as a search for all of them finds it.

/// A device that is served now, and its process.
public struct ListedDevice: Codable, Hashable, Sendable {
    /// The device's directory. Null for one whose process does not answer, and was not told on its command line.
    public var device: String?
    /// The device's UUID; null for one whose process does not answer.
    public var identifier: String?
    /// As ``DeviceStatus/state``, or ``notAnswering``.
    public var state: String
    /// Whether the directory is there. A process notices soon that its directory was removed, and ends.
    public var isThere: Bool
    /// The process, by the kernel's word; null for one in a PID namespace out of sight.
    public var pid: Int32?
    /// The path of the control socket.
    public var socket: String
    /// The number of apps installed.
    public var apps: Int
    public var mounts: [Mount]
    /// The identifiers of the apps that are running.
    public var running: [String]

    /// The state of a device whose process did not answer in time, or not as a device does.
    public static let notAnswering = "notAnswering"

    /// The client of the device's process.
    public var client: DeviceClient { DeviceClient(socket: socket, identifier: identifier) }

    /// - Parameter status: nil where none came.
    init(_ status: DeviceStatus?, device: String?, isThere: Bool, pid: Int32?, socket: String) {
        self.device = device
        self.isThere = isThere
        self.pid = pid
        self.socket = socket
        identifier = status?.identifier
        state = status?.state ?? ListedDevice.notAnswering
        apps = status?.apps ?? 0
        mounts = status?.mounts ?? []
        running = status?.running ?? []
    }

    private enum CodingKeys: String, CodingKey {
        case device, identifier, state
        case isThere = "there"
        case pid, socket, apps, mounts, running
    }

    /// Writes null where there is nothing, so that a script finds the keys in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(device, forKey: .device)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(state, forKey: .state)
        try container.encode(isThere, forKey: .isThere)
        try container.encode(pid, forKey: .pid)
        try container.encode(socket, forKey: .socket)
        try container.encode(apps, forKey: .apps)
        try container.encode(mounts, forKey: .mounts)
        try container.encode(running, forKey: .running)
    }
}
