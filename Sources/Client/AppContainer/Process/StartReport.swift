// The answer of a process that starts a device: of `appcontainer own`, and of a daemon to its parent.

/// The outcome of the start of a device's daemon, as one line of JSON.
public struct StartReport: Codable, Hashable, Sendable {
    /// The daemon's process.
    public var pid: Int32?
    /// The path of the control socket; null for a template, and when the start failed.
    public var socket: String?
    /// The device's UUID, which each request names; null where ``socket`` is.
    public var identifier: String?
    /// The apps of ``DeviceOrder/install``, in its order.
    public var apps: [App]?
    /// Warnings for the user, one line each.
    public var warnings: [String]?
    /// The error, when the start failed.
    public var complaint: DeviceError?

    public init(
        pid: Int32? = nil, socket: String? = nil, identifier: String? = nil, apps: [App]? = nil,
        warnings: [String]? = nil, complaint: DeviceError? = nil
    ) {
        self.pid = pid
        self.socket = socket
        self.identifier = identifier
        self.apps = apps
        self.warnings = warnings
        self.complaint = complaint
    }
}
