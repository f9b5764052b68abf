// The daemon of another user: visible, but with a control socket that this user cannot reach.

import BackingStore
import Glibc
import Platform
public import SandboxModel

/// A daemon that this user cannot talk to: a control socket is its own user's alone. Root may serve another user's
/// device, and finds such a device served by that user.
public struct ForeignDaemon: Sendable {
    public let pid: Int32
    /// The name of its user, or words where that is unknown.
    public let user: String

    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: nil when the device has no daemon, or one that this user can talk to.
    public init?(of device: String) {
        guard let directory = try? DeviceDirectory.open(at: device), let record = DaemonRecord(of: directory),
            directory.isLocked
        else { return nil }
        // With the mount option hidepid, /proc does not show processes of others.
        let owner = (try? HostPath.status("/proc/\(record.pid)"))?.owner
        guard owner.map({ $0 != ActingUser.starter }) ?? ForeignDaemon.isOutOfReach(record.socket) else { return nil }
        pid = record.pid
        user = owner.map { Account.name(of: $0) ?? "user \($0)" } ?? "another user"
    }

    /// - Throws: ``Complaint`` of kind `notAllowed` where another user's process serves the device.
    public static func requireNone(of device: String) throws(Complaint) {
        guard let foreign = ForeignDaemon(of: device) else { return }
        throw Complaint(
            .notAllowed,
            "\(device) is served by process \(foreign.pid) of \(foreign.user), which answers no other user; "
                + "have that user run: appcontainer shutdown \(device)")
    }

    /// Whether the directory of the socket is closed to this user.
    private static func isOutOfReach(_ socket: String) -> Bool {
        do throws(SystemError) {
            _ = try HostPath.status(socket)
            return false
        } catch {
            return error == .accessDenied
        }
    }
}
