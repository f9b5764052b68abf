// The reply to a query for the requests that a device has served.

/// The work of a device since its process started.
public struct Activity: Codable, Hashable, Sendable {
    /// The kernel's requests to the mounts by kind, such as `lookup`, `open`, `read`, `write`; kinds that did not come
    /// are missing. A call that the kernel answers from its caches is no request.
    public var requests: [String: UInt64]

    public init(requests: [String: UInt64]) {
        self.requests = requests
    }
}
