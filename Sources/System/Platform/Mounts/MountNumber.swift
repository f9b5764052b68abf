// A mount by a number of its own (statmount(2), since Linux 6.8).

import CPlatform
import SandboxModel

/// The number of a mount, which no other ever has. It tells whether the mount is where it was without the kernel's
/// list, which grows with the mounts of everybody.
public struct MountNumber: Equatable, Sendable {
    private let number: UInt64

    /// The topmost mount at a directory.
    /// - Returns: nil where the kernel has no such numbers.
    public init?(at place: MountPlace) {
        let found = ActingUser.asSuperuser { () -> UInt64? in
            guard let directory = try? place.openMounted() else { return nil }
            var number: UInt64 = 0
            return unsafe platform_mount_number(directory.number, &number) == 0 ? number : nil
        }
        guard let found else { return nil }
        number = found
    }

    /// Whether the mount is at a path.
    /// - Returns: false also where nothing tells; the kernel's list does then.
    public func isSurelyAt(_ path: String) -> Bool { unsafe platform_is_mounted_at(number, path) != 0 }
}
