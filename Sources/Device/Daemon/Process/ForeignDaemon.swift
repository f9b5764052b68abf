// The daemon of another user: visible, but with a control socket that this user cannot reach.

import BackingStore
import Glibc
import Platform
public import SandboxModel

/// A daemon that this user cannot talk to. Root may serve any user's device, and its control socket is root's alone.
public struct ForeignDaemon: Sendable {
    public let pid: Int32
    /// The name of its user, or words where that is unknown.
    public let user: String

    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: nil when the device has no daemon, or one that this user can talk to.
    public init?(of device: String) {
        guard let record = DaemonRecord(of: device), ForeignDaemon.isOutOfReach(record.socket),
            ForeignDaemon.isHeld(device)
        else { return nil }
        pid = record.pid
        // With the mount option hidepid, /proc does not show processes of others.
        let owner = (try? HostPath.status("/proc/\(record.pid)"))?.owner
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

    /// Whether a live process holds the device's lock. The record of a killed process stays; its lock does not.
    private static func isHeld(_ device: String) -> Bool {
        guard let file = try? Descriptor.open(path: "\(device)/\(DeviceDirectory.Name.lock.text)", flags: O_RDONLY)
        else { return false }
        return (try? file.tryLock()) == false
    }
}
