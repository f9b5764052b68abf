// The places of control sockets: the directories in which a user's devices have theirs, and the names that they have.

package import Glibc
import Platform
import SandboxModel

/// Shared by a device's process, which makes its socket, and by those who look for it.
package enum ControlSockets {
    /// A socket's path has 108 bytes (unix(7)); some clients count the terminator, or add a suffix.
    package static let longestPath = 99
    /// 16 hexadecimal digits and `.sock`.
    package static let nameLength = 16 + suffix.utf8.count
    package static let suffix = ".sock"

    /// The directories that a user's device may have its socket in, in the order in which they are tried.
    package static func directories(of user: uid_t, environment: [String: String]) -> [String] {
        var candidates: [String] = []
        if user == 0 {
            candidates.append("/run/appcontainer")
        } else if let base = environment["XDG_RUNTIME_DIR"], base.hasPrefix("/"), isOwn(base, user: user) {
            let path = base + "/appcontainer"
            if path.utf8.count + 1 + nameLength <= longestPath { candidates.append(path) }
        }
        return candidates + [fallback(user)]
    }

    /// The same, and the one that a login would name: a device may have been started with another environment.
    static func everyDirectory(of user: uid_t, environment: [String: String]) -> [String] {
        let known = directories(of: user, environment: environment)
        let login = "/run/user/\(user)/appcontainer"
        return user == 0 || known.contains(login) ? known : known + [login]
    }

    /// The directory of a user without a usable `$XDG_RUNTIME_DIR`. Also root's, where /run cannot be used.
    package static func fallback(_ user: uid_t) -> String { "/tmp/appcontainer-\(user)" }

    /// Whether a path is a directory of this user that no other can enter. In /tmp anybody can make a link or a
    /// directory.
    package static func isPrivate(_ path: String, user: uid_t) -> Bool {
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
    package static func path(in directory: String, device: String, identifier: String) -> String {
        let digits = String(fingerprint("\(device)\n\(identifier)"), radix: 16)
        return "\(directory)/\(String(repeating: "0", count: 16 - digits.count))\(digits)\(suffix)"
    }

    /// Whether a name has the form of those of ``path(in:device:identifier:)``.
    package static func isName(_ name: String) -> Bool {
        name.utf8.count == nameLength && name.hasSuffix(suffix)
            && name.dropLast(suffix.count).allSatisfy(\.isHexDigit)
    }

    /// FNV-1a, 64 bits: short, and the same in every process, unlike Swift's hashes.
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
