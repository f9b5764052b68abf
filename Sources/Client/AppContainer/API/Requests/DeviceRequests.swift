// Requests about the device as a whole: its status and its end.

/// Asks for the state of the device and its daemon.
public struct StatusRequest: ControlRequest {
    public typealias Reply = DeviceStatus
    public static let path = "status"
    public static let isQuery = true

    public init() {}

    public func check() {}
}

/// Unmounts everything and ends the daemon. The response comes before the process ends.
public struct ShutdownRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "shutdown"

    public init() {}

    public func check() {}
}

/// Counts the requests that the device's mounts have served.
public struct ActivityRequest: ControlRequest {
    public typealias Reply = Activity
    public static let path = "activity"
    public static let isQuery = true

    public init() {}

    public func check() {}
}
