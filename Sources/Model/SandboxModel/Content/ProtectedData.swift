// The availability of protected data, which apps can read without access to the device.

/// Whether files of class A can be read: `isProtectedDataAvailable` of iOS.
public enum ProtectedData: String, Sendable {
    case available
    case unavailable

    /// The extended attribute of a home that has the raw value.
    public static let attributeName = "user.appcontainer.protected-data"

    /// - Parameter state: the device's state. Data is available until the grace period ends.
    public init(in state: DeviceState) {
        self = state.canOpen(.complete) ? .available : .unavailable
    }

    /// - Parameter bytes: the attribute's value, to the byte.
    public init?(attributeValue bytes: [UInt8]) {
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }
}
