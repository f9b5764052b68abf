// Room for the records of a device on a host that is full.
// Lock: `giving`, around the calls on the host that the reserve is given up for, and nothing else.

import Glibc
import Platform
import SandboxModel

/// A file that takes room which nobody uses: it is given up for a moment when a record, or what is purged on its way to
/// the trash, finds none.
///
/// Without it a device on a full host could not be started, unlocked or shut down in order, and so nothing of it deleted.
enum RecordReserve {
    /// Two that need it at once get it one after the other.
    private static let giving = ReadWriteLock()
    private static let name = DeviceDirectory.Name.reserve
    /// More than the records take that have to be written on a full host.
    private static let most: Int64 = 256 << 10
    private static let step: Int64 = 16 << 10

    /// Takes the room, or as much of it as there is.
    static func take(in directory: borrowing Descriptor) {
        guard let file = try? directory.open(name, flags: O_WRONLY | O_CREAT, mode: 0o600) else { return }
        try? file.giveToOwner(of: directory)
        var bytes = most
        while bytes > 0, (try? file.allocate(0, count: bytes, extending: true)) == nil {
            // Some hosts leave a part of what they could not allocate whole.
            try? file.truncate(to: 0)
            bytes -= step
        }
    }

    /// Does something that may find no room: then once more in place of the reserve, which is taken again. A directory
    /// that has none is not given one.
    static func use(in directory: borrowing Descriptor, _ body: () throws(SystemError) -> Void) throws(SystemError) {
        do throws(SystemError) {
            return try body()
        } catch {
            guard error.isOutOfSpace, (try? directory.exists(name)) == true else { throw error }
        }
        giving.lockForWriting()
        // What the body replaced has given its room back.
        defer {
            take(in: directory)
            giving.unlock()
        }
        try? directory.open(name, flags: O_WRONLY).truncate(to: 0)
        try body()
    }
}

extension SystemError {
    /// Whether the host, or the share of it that a quota grants, is full.
    var isOutOfSpace: Bool { self == .noSpace || code == EDQUOT }
}
