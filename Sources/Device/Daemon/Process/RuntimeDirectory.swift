// The directory of sockets and private mount points, which only this user can enter.

import AppContainer
import Glibc
import Platform
public import SandboxModel

/// Finds or makes the directory, and names the files in it.
public enum RuntimeDirectory {
    /// The directory, made if it is not there.
    ///
    /// Root's is /run/appcontainer. Another user's is `appcontainer` in `$XDG_RUNTIME_DIR`, or
    /// /tmp/appcontainer-UID where that variable is unset, is not the user's own, or is too long.
    /// - Throws: ``Complaint`` of kind `notAllowed` when another user has made it, or it is open to others.
    public static func prepare(environment: [String: String]) throws(Complaint) -> String {
        let user = ActingUser.starter
        for candidate in ControlSockets.directories(of: user, environment: environment) {
            do throws(SystemError) {
                try HostDirectory.make(candidate)
            } catch {
                continue
            }
            if ControlSockets.isPrivate(candidate, user: user) { return candidate }
        }
        throw Complaint(
            .notAllowed,
            "there is no directory for the control socket: \(ControlSockets.fallback(user)) belongs to somebody else or "
                + "is open to others; remove it, or set XDG_RUNTIME_DIR to a directory of yours")
    }

    /// The path of a device's socket, the same each time the device is started at the same place.
    /// - Parameters:
    ///   - device: the device directory's path, resolved.
    ///   - identifier: the device's UUID, so that another device at the same place has another socket.
    public static func socketPath(in directory: String, device: String, identifier: String) -> String {
        ControlSockets.path(in: directory, device: device, identifier: identifier)
    }

    /// Whether a path has the form of ``socketPath(in:device:identifier:)``, in a directory that only this user can
    /// enter. The path may come from a file that anybody wrote; that the right device listens there, its identifier in
    /// each request makes sure.
    static func isSocket(_ path: String) -> Bool {
        guard let place = HostPath.place(of: path), path.utf8.count <= ControlSockets.longestPath else { return false }
        return ControlSockets.isName(place.name.text)
            && ControlSockets.isPrivate(place.directory, user: ActingUser.starter)
    }

    /// The mount point of the device itself, in a daemon of root.
    static func privateDirectory(besideSocket socket: String) -> String {
        socket + ".mount"
    }

    /// The mount points of apps for which the request names none. They lie beside the socket, where this user alone can
    /// go; for a superuser's process that acts as the device's owner, where that user can go too.
    static func homes(besideSocket socket: String) -> Homes {
        guard ActingUser.isActing, let name = HostPath.place(of: socket)?.name else {
            return Homes(directory: socket + ".apps", mode: S_IRWXU)
        }
        return Homes(directory: "\(sharedDirectory)/\(name.text).apps", mode: 0o711)
    }

    private static let sharedDirectory = "/run/appcontainer-homes"
}
