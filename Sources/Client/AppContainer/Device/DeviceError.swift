// The error of every call on a device, and the complaint that it is on the other side of the control API.

import Platform
package import SandboxModel

/// One line for people that says what was wrong and what to do, as the daemon sent it, and a kind for programs.
///
/// The kinds that a device reports are listed with their exit codes in appcontainer(1).
public struct DeviceError: Error, Codable, Hashable, Sendable {
    public let kind: Kind
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The error of a system call of this process.
    /// - Parameter doing: the words before the reason, such as "cannot start appcontainer".
    init(_ error: SystemError, doing: String) {
        self.init(Complaint(error, doing: doing))
    }

    /// A complaint, as the control API carries it.
    package init(_ complaint: Complaint) {
        self.init(Kind(complaint.kind), complaint.message)
    }

    static let ended = DeviceError(
        .daemonEnded, "the device's daemon ended before it answered; see daemon.log in the device directory")
}

extension DeviceError {
    /// Whether the daemon ended meanwhile, so that the next one can answer the same request. Starting that one waits
    /// for the end of the first.
    ///
    /// - Parameter isRepeatable: whether the request may be carried out twice (``ControlRequest/isRepeatable``).
    public func isWorthAnotherTry(isRepeatable: Bool) -> Bool {
        switch kind {
        case .daemonUnreachable, .shuttingDown: true
        case .daemonEnded: isRepeatable
        default: false
        }
    }
}

extension DeviceError: CustomStringConvertible {
    public var description: String { message }
}

/// The body of every response with a status other than 200.
public struct Failure: Codable, Hashable, Sendable {
    public let complaint: DeviceError

    public init(_ complaint: DeviceError) {
        self.complaint = complaint
    }
}

extension Complaint {
    /// The complaint that a client received. A kind that this version does not know becomes `unexpected`.
    package init(_ error: DeviceError) {
        self.init(error.kind.known ?? .unexpected, error.message)
    }
}
