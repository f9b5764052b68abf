// The protocol of all requests of the control API.
//
// Requests are HTTP/1.1 over the device's control socket. A query is a GET; every other request is a POST with a JSON
// object. The response is 200 with the JSON of `Reply`, or another status with a ``Failure``.
//
// The requests are grouped by noun in the files beside this one. CONTRIBUTING.md says how to add one.

/// A request of the control API: its path, its parameters, and the type of its reply.
public protocol ControlRequest: Codable, Sendable {
    /// The JSON of a response with status 200.
    associatedtype Reply: Codable & Sendable
    /// The path below ``ControlPath/root``.
    static var path: String { get }
    /// Whether the request is a GET without a body, which changes nothing.
    static var isQuery: Bool { get }
    /// Whether the request may be sent again after its daemon ended without a response, when nobody knows whether it
    /// was carried out.
    static var isRepeatable: Bool { get }

    /// Checks the parameters as far as that needs no device. The daemon calls it before it carries the request out.
    ///
    /// There is no default: a request without rules has the line `public func check() {}`.
    /// - Throws: an error of kind `badRequest`, `invalidIdentifier` or `invalidPasscode`; for an empty path, of a kind
    ///   that says that nothing is there.
    func check() throws(DeviceError)
}

extension ControlRequest {
    public static var isQuery: Bool { false }
    public static var isRepeatable: Bool { true }
}

/// The reply to a request that has nothing to return.
public struct Done: Codable, Hashable, Sendable {
    public init() {}
}
