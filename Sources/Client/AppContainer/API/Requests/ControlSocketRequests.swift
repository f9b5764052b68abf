// Requests about further control sockets, for users who may handle the device alone and nothing of the host.

/// Listens at a further control socket for one user. Its requests are those that name no file, no process and no space
/// of the host: the state, locks, the passcode, purging, the clock, conditions, suspension, the files of apps and their
/// marks, and the record. Every other is refused as `notAllowed`.
public struct OpenControlSocketRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "open-control-socket"

    /// An absolute path at which nothing is, or a socket that an earlier process of the device has left.
    public var socket: String
    /// The number of the user.
    public var user: UInt32

    public init(socket: String, user: UInt32) {
        self.socket = socket
        self.user = user
    }

    public func check() throws(DeviceError) { try requireAbsolute(socket, "socket", empty: .badRequest) }
}

/// Ends a further control socket. The response is the same where none is there.
public struct CloseControlSocketRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "close-control-socket"

    /// An absolute path.
    public var socket: String

    public init(socket: String) {
        self.socket = socket
    }

    public func check() throws(DeviceError) { try requireAbsolute(socket, "socket", empty: .badRequest) }
}
