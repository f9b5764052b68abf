// The reserve: space for the records of a device on a full host.

import Glibc
import Platform
import SandboxModel

/// A file of unused space. It is released for a moment when a record, or a purged entry's name in the trash, finds no
/// space.
///
/// Without it a device on a full host could not be started, unlocked or shut down, so nothing on it could be deleted.
///
/// Lock: `releasing`, held around the calls on the host that need the released space, and nothing else.
enum RecordReserve {
    private static let releasing = ReadWriteLock()
    private static let name = DeviceDirectory.Name.reserve
    /// In bytes: more than all records that are written on a full host.
    private static let most: Int64 = 256 << 10
    private static let step: Int64 = 16 << 10

    /// Allocates the reserve, or as much of it as the host has.
    static func take(in directory: borrowing Descriptor) {
        guard let file = try? directory.openRecord(name, flags: O_WRONLY | O_CREAT, mode: 0o600) else { return }
        try? file.giveToOwner(of: directory)
        var bytes = most
        while bytes > 0, (try? file.allocate(0, count: bytes, extending: true)) == nil {
            // Some hosts leave a partial allocation.
            try? file.truncate(to: 0)
            bytes -= step
        }
    }

    /// Runs `body`; if it finds no space, once more with the reserve released, which is then taken again. A directory
    /// without a reserve gets none.
    static func use(in directory: borrowing Descriptor, _ body: () throws(SystemError) -> Void) throws(SystemError) {
        do throws(SystemError) {
            return try body()
        } catch {
            guard error.isOutOfSpace, (try? directory.exists(name)) == true else { throw error }
        }
        releasing.lockForWriting()
        // The replaced files have returned their space.
        defer {
            take(in: directory)
            releasing.unlock()
        }
        try? directory.openRecord(name, flags: O_WRONLY).truncate(to: 0)
        try body()
    }
}

extension SystemError {
    /// Whether the host, or a quota on it, is full.
    var isOutOfSpace: Bool { self == .noSpace || code == EDQUOT }
}
