// Whether files that need the device unlocked can be read now, for who lives in a home and sees nothing of the device.

/// What an app may ask of the device's lock: iOS answers it as `isProtectedDataAvailable`.
public enum ProtectedData: String, Sendable {
    case available
    case unavailable

    /// The extended attribute of a home that tells it, by the raw value.
    public static let attributeName = "user.appcontainer.protected-data"

    /// - Parameter state: the device's. What was announced to be locked can be read until it is.
    public init(in state: DeviceState) {
        self = state.canOpen(.complete) ? .available : .unavailable
    }

    /// - Parameter bytes: the attribute's value, to the byte.
    public init?(attributeValue bytes: [UInt8]) {
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }
}
