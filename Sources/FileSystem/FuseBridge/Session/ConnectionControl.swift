// The kernel's switch that ends a FUSE connection, whoever waits for it.

import Glibc
import Platform
import SandboxModel

/// `abort` of a connection in fusectl (/sys/fs/fuse/connections).
final class ConnectionControl: Sendable {
    private let type: String
    /// The number of the connection; nil where /proc does not tell.
    private let number: UInt32?
    /// nil where fusectl is not mounted. Opened at the beginning: the number of a connection that is gone may be that
    /// of another one.
    private let file: SharedDescriptor?

    /// - Parameter path: where the connection has just been mounted.
    init(at path: String, type: String) {
        self.type = type
        number = ConnectionControl.number(at: path, type: type)
        let number = self.number
        file = ActingUser.asSuperuser {
            guard let number else { return nil }
            let path = "/sys/fs/fuse/connections/\(number)/abort"
            return try? SharedDescriptor(Descriptor.open(path: path, flags: O_WRONLY))
        }
    }

    /// Asks the filesystem nothing, as nobody may serve it.
    private static func number(at path: String, type: String) -> UInt32? {
        ActingUser.asSuperuser {
            guard let there = (try? Descriptor.openDirectory(path: path))?.mountInfo, there.type == type else {
                return nil
            }
            return there.minor
        }
    }

    /// Whether the topmost mount at a path is one of the connection.
    func isMounted(at path: String) -> Bool {
        number != nil && ConnectionControl.number(at: path, type: type) == number
    }

    /// `write(2)`: requests under way fail with ECONNABORTED, later calls in the mount with ENOTCONN.
    /// - Returns: false if there is no such switch.
    func abort() -> Bool {
        guard let number = file?.descriptor.number else { return false }
        return unsafe write(number, "1", 1) == 1
    }
}
