// The directory of sockets and private mount points, which only this user can enter.

import Glibc
import Platform
public import SandboxModel

/// Finds or makes the directory, and names the files in it.
public enum RuntimeDirectory {
    /// A socket's path has 108 bytes (unix(7)); some clients count the terminator, or add a suffix.
    static let longestSocketPath = 99
    /// 16 hexadecimal digits and `.sock`.
    private static let socketNameLength = 16 + 5

    /// The directory, made if it is not there.
    ///
    /// Root's is /run/appcontainer. Another user's is `appcontainer` in `$XDG_RUNTIME_DIR`, or
    /// /tmp/appcontainer-UID where that variable is unset, is not the user's own, or is too long.
    /// - Throws: ``Complaint`` of kind `notAllowed` when another user has made it, or it is open to others.
    public static func prepare(environment: [String: String]) throws(Complaint) -> String {
        let user = ActingUser.starter
        for candidate in candidates(user: user, environment: environment) {
            do throws(SystemError) {
                try HostDirectory.make(candidate)
            } catch {
                continue
            }
            if isPrivate(candidate, user: user) { return candidate }
        }
        throw Complaint(
            .notAllowed,
            "there is no directory for the control socket: \(fallback(user)) belongs to somebody else or is open to "
                + "others; remove it, or set XDG_RUNTIME_DIR to a directory of yours")
    }

    /// The paths to try, in order.
    static func candidates(user: uid_t, environment: [String: String]) -> [String] {
        var candidates: [String] = []
        if user == 0 {
            candidates.append("/run/appcontainer")
        } else if let base = environment["XDG_RUNTIME_DIR"], base.hasPrefix("/"), isOwn(base, user: user) {
            let path = base + "/appcontainer"
            if path.utf8.count + 1 + socketNameLength <= longestSocketPath { candidates.append(path) }
        }
        return candidates + [fallback(user)]
    }

    /// The directory of a user without a usable `$XDG_RUNTIME_DIR`. Also root's, where /run cannot be used.
    private static func fallback(_ user: uid_t) -> String { "/tmp/appcontainer-\(user)" }

    /// Whether a path is a directory of this user that no other can enter. In /tmp anybody can make a link or a
    /// directory.
    static func isPrivate(_ path: String, user: uid_t) -> Bool {
        let status = ActingUser.asSuperuser { try? HostPath.status(path, following: false) }
        guard let status else { return false }
        return status.kind == .directory && status.owner == user && status.permissions & 0o077 == 0
    }

    private static func isOwn(_ path: String, user: uid_t) -> Bool {
        guard let status = try? HostPath.status(path) else { return false }
        return status.kind == .directory && status.owner == user
    }

    /// The path of a device's socket, the same each time the device is started at the same place.
    /// - Parameters:
    ///   - device: the device directory's path, resolved.
    ///   - identifier: the device's UUID, so that another device at the same place has another socket.
    public static func socketPath(in directory: String, device: String, identifier: String) -> String {
        let digits = String(fingerprint("\(device)\n\(identifier)"), radix: 16)
        return "\(directory)/\(String(repeating: "0", count: 16 - digits.count))\(digits)\(suffix)"
    }

    private static let suffix = ".sock"

    /// Whether a path has the form of ``socketPath(in:device:identifier:)``, in a directory that only this user can
    /// enter. The path may come from a file that anybody wrote; that the right device listens there, its identifier in
    /// each request makes sure.
    static func isSocket(_ path: String) -> Bool {
        guard let place = HostPath.place(of: path), path.utf8.count <= longestSocketPath else { return false }
        let name = place.name.text
        return name.utf8.count == socketNameLength && name.hasSuffix(suffix)
            && name.dropLast(suffix.count).allSatisfy(\.isHexDigit)
            && isPrivate(place.directory, user: ActingUser.starter)
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

    /// FNV-1a, 64 bits: short, and the same in every process, unlike Swift's hashes.
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
