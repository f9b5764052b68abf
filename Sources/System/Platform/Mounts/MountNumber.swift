// A mount by a number of its own (statmount(2), since Linux 6.8).

import CPlatform
import Glibc
import SandboxModel

/// The number of a mount, which no other ever has. With it the kernel describes this mount alone; its list of all
/// grows with the mounts of everybody.
public struct MountNumber: Equatable, Sendable {
    private let number: UInt64

    /// The topmost mount at a directory.
    /// - Returns: nil where the kernel has no such numbers.
    public init?(at place: MountPlace) {
        let found = ActingUser.asSuperuser { () -> MountNumber? in
            guard let directory = try? place.openMounted() else { return nil }
            return MountNumber(of: directory)
        }
        guard let found else { return nil }
        self = found
    }

    /// The mount that a descriptor leads to.
    /// - Returns: nil where the kernel has no such numbers.
    init?(of descriptor: borrowing Descriptor) {
        var number: UInt64 = 0
        guard unsafe platform_mount_number(descriptor.number, &number) == 0 else { return nil }
        self.number = number
    }

    private init(_ number: UInt64) { self.number = number }

    /// `listmount(2)`: the mounts of this mount namespace, in the order of mounting.
    /// - Returns: nil where the kernel does not tell.
    static func all() -> [MountNumber]? {
        var found: [UInt64] = []
        while true {
            let part = unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 512) { part -> [UInt64]? in
                let count = unsafe platform_listmount(found.last ?? 0, part.baseAddress, part.count)
                return count < 0 ? nil : unsafe Array(part.prefix(count))
            }
            guard let part else { return nil }
            found += part
            if part.count < 512 { return found.map { MountNumber($0) } }
        }
    }

    // MARK: Facts

    /// Whether the mount is at a path.
    /// - Returns: false also where nothing tells; the kernel's list does then.
    public func isSurelyAt(_ path: String) -> Bool {
        unsafe described(by: [platform_STATMOUNT_MNT_POINT]) { unsafe strcmp($0.mount_point, path) == 0 } ?? false
    }

    /// Whether the source of the mount begins with a text.
    /// - Returns: nil where the kernel does not tell.
    func isFrom(_ source: String) -> Bool? {
        unsafe described(by: [platform_STATMOUNT_SB_SOURCE]) {
            unsafe strncmp($0.source, source, source.utf8.count) == 0
        }
    }

    /// The mount as the kernel's list shows it.
    /// - Returns: nil where the kernel does not tell, or the mount has ended.
    var info: MountInfo? {
        unsafe described(
            by: [
                platform_STATMOUNT_SB_BASIC, platform_STATMOUNT_MNT_BASIC, platform_STATMOUNT_MNT_ROOT,
                platform_STATMOUNT_MNT_POINT, platform_STATMOUNT_FS_TYPE, platform_STATMOUNT_SB_SOURCE,
            ],
            andMaybeBy: [platform_STATMOUNT_FS_SUBTYPE, platform_STATMOUNT_MNT_OPTS]
        ) { unsafe MountInfo($0) }
    }

    /// `statmount(2)`.
    /// - Parameters:
    ///   - needed: `STATMOUNT_*`.
    ///   - optional: those that a mount may lack.
    /// - Returns: nil where the kernel tells not all that is needed.
    private func described<Result>(
        by needed: [Int], andMaybeBy optional: [Int] = [], _ body: (borrowing platform_mount) -> Result
    ) -> Result? {
        let needed = needed.reduce(0) { $0 | UInt64($1) }
        let wanted = optional.reduce(needed) { $0 | UInt64($1) }
        // Options of an overlay name every layer; of a mount that needs more room nothing is told.
        return unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { memory in
            var mount = unsafe platform_mount()
            guard unsafe platform_statmount(number, wanted, memory.baseAddress, memory.count, &mount) == 0,
                unsafe mount.told & needed == needed
            else { return nil }
            return unsafe body(mount)
        }
    }
}

extension MountInfo {
    fileprivate init(_ mount: borrowing platform_mount) {
        let subtype = unsafe String(cString: mount.subtype)
        let options = unsafe String(cString: mount.options)
        let isReadOnly = unsafe mount.filesystem_flags & 1 != 0
        unsafe self.init(
            number: UInt64(mount.listed_number), minor: mount.minor, root: String(cString: mount.root),
            mountPoint: String(cString: mount.mount_point), options: MountInfo.options(mount.attributes),
            type: String(cString: mount.type) + (subtype.isEmpty ? "" : ".\(subtype)"),
            source: String(cString: mount.source),
            filesystemOptions: (isReadOnly ? "ro" : "rw") + (options.isEmpty ? "" : ",\(options)"))
    }

    /// The options of a mount by `MOUNT_ATTR_*` of mount_setattr(2).
    private static func options(_ attributes: UInt64) -> [String] {
        let names: [(UInt64, String)] = [
            (0x2, "nosuid"), (0x4, "nodev"), (0x8, "noexec"), (0x80, "nodiratime"), (0x20_0000, "nosymfollow"),
        ]
        var options = [attributes & 0x1 == 0 ? "rw" : "ro"]
        options += names.filter { attributes & $0.0 != 0 }.map(\.1)
        switch attributes & 0x70 {
        case 0: options.append("relatime")
        case 0x10: options.append("noatime")
        default: break
        }
        return options
    }
}
