// The locks that an app must not hold when it is suspended.

public import SandboxModel

/// The bytes that SQLite locks instead of content: those of the database are in its page "File Locking And
/// Concurrency", those of `-shm` in "WAL-mode File Format".
enum SQLiteLocks {
    /// PENDING_BYTE, RESERVED_BYTE and the 510 bytes of SHARED, in the database.
    static let database: ClosedRange<UInt64> = 0x4000_0000...0x4000_01FF
    /// SHARED alone: a reader's.
    static let shared: ClosedRange<UInt64> = 0x4000_0002...0x4000_01FF
    /// WRITE, CKPT, RECOVER and the five READ, in `-shm`: each is held in a transaction only.
    static let transaction: ClosedRange<UInt64> = 120...127
    /// DMS, in `-shm`: each connection holds it for its life.
    static let connection: UInt64 = 128

    static let sharedMemory = "-shm"
    /// The files that belong to a database.
    static let companions = [sharedMemory, "-wal", "-journal"]
}

extension SandboxPolicy {
    /// The locks for which a process is ended when it is suspended.
    ///
    /// Any lock on any file, except:
    /// - on a file that is exempt by its attribute, or belongs to a database that is;
    /// - on a SQLite database in WAL mode: its readers share a lock for the life of the connection, so that the locks
    ///   in `-shm` say whether a transaction is open. A connection in this mode is known by its lock there;
    /// - on `-shm`, `-wal` and `-journal` for themselves.
    ///
    /// - Parameter files: those of group containers on which the process holds a lock.
    /// - Returns: in the order of the paths, each path and kind of lock once.
    public static func breachesOfSuspension(by files: [LockedFile]) -> [SuspensionBreach] {
        var byPath: [String: LockedFile] = [:]
        for file in files {
            byPath[file.path, default: LockedFile(path: file.path, isExempt: file.isExempt, locks: [])]
                .locks += file.locks
        }
        var found: Set<SuspensionBreach> = []
        for file in byPath.values where !file.isExempt {
            guard let companion = SQLiteLocks.companions.first(where: { file.path.hasSuffix($0) }) else {
                let memory = byPath[file.path + SQLiteLocks.sharedMemory]
                found.formUnion(file.locks.compactMap { breach(by: $0, on: file, memory) })
                continue
            }
            let database = String(file.path.dropLast(companion.count))
            if companion == SQLiteLocks.sharedMemory, byPath[database]?.isExempt != true,
                file.locks.contains(where: isOfTransaction)
            {
                found.insert(SuspensionBreach(path: database, lock: .sqlite))
            }
        }
        return found.sorted { ($0.path, $0.lock.rawValue) < ($1.path, $1.lock.rawValue) }
    }

    /// - Parameter memory: the `-shm` beside the file, if the process holds a lock on it.
    private static func breach(by lock: FileLock, on file: LockedFile, _ memory: LockedFile?) -> SuspensionBreach? {
        let isOfSQLite = lock.form != .flock && SQLiteLocks.database.contains(lock.bytes)
        guard isOfSQLite else { return SuspensionBreach(path: file.path, form: lock.form) }
        let isInWALMode = memory?.locks.contains { $0.bytes.contains(SQLiteLocks.connection) } ?? false
        let isIdle = isInWALMode && !lock.isExclusive && SQLiteLocks.shared.contains(lock.bytes)
        return isIdle ? nil : SuspensionBreach(path: file.path, lock: .sqlite)
    }

    private static func isOfTransaction(_ lock: FileLock) -> Bool {
        lock.form != .flock && lock.bytes.overlaps(SQLiteLocks.transaction)
            && lock.bytes.upperBound <= SQLiteLocks.connection
    }
}
