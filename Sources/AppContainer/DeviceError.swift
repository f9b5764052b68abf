// Why a device did not do what it was asked.

/// One line that says what was wrong and what to do, and a kind that programs can tell apart.
///
/// The kinds are listed with their exit codes in appcontainer(1): `unknownApp`, `alreadyMounted`, `wrongPasscode`
/// and so on. A kind never changes its meaning; new ones may be added.
public struct DeviceError: Error, Codable, Hashable, Sendable {
    public let kind: String
    public let message: String

    public init(kind: String, message: String) {
        self.kind = kind
        self.message = message
    }

    /// Nobody listens at the control socket. Nothing was sent.
    public static let unreachableKind = "daemonUnreachable"

    /// The daemon ended before it answered; whether it did what it was asked is not known.
    public static let endedKind = "daemonEnded"

    /// The task that waited for the answer was cancelled.
    public static let cancelledKind = "cancelled"

    static func unreachable(_ message: String) -> DeviceError {
        DeviceError(kind: unreachableKind, message: message)
    }

    static let ended = DeviceError(
        kind: endedKind,
        message: "the device's daemon ended before it answered; see daemon.log in the device directory")
}

extension DeviceError: CustomStringConvertible {
    public var description: String { message }
}

/// The body of every answer that is not a success.
public struct Failure: Codable, Hashable, Sendable {
    public let complaint: DeviceError

    public init(_ complaint: DeviceError) {
        self.complaint = complaint
    }
}
