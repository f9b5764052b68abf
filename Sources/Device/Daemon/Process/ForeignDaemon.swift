// A device's process that belongs to another user: it can be seen, and not be spoken to.

import Glibc
import Platform
public import SandboxModel

/// Root may serve anybody's device, and then the control socket is root's alone.
public struct ForeignDaemon: Sendable {
    public let pid: Int32
    /// The user's name, as far as it can be told.
    public let user: String

    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: nil when nobody serves the device, or a process that this user can speak to.
    public init?(of device: String) {
        guard let record = DaemonRecord(of: device), ForeignDaemon.isOutOfReach(record.socket),
            ForeignDaemon.isHeld(device)
        else { return nil }
        pid = record.pid
        // Where /proc is mounted with hidepid, others' processes are not in it.
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

    private static func isOutOfReach(_ socket: String) -> Bool {
        do throws(SystemError) {
            _ = try HostPath.status(socket)
            return false
        } catch {
            return error == .accessDenied
        }
    }

    /// The record of a killed process stays behind; its lock does not.
    private static func isHeld(_ device: String) -> Bool {
        guard let file = try? Descriptor.open(path: device + "/lock", flags: O_RDONLY) else { return false }
        return (try? file.tryLock()) == false
    }
}
