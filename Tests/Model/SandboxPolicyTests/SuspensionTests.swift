// The locks for which a process is ended when it is suspended.

import SandboxModel
import Testing

@testable import SandboxPolicy

@Suite struct SuspensionTests {
    private let database = "Groups/group.a/notes.db"

    private func posix(_ bytes: ClosedRange<UInt64>, exclusive: Bool = false) -> FileLock {
        FileLock(.posix, isExclusive: exclusive, bytes: bytes)
    }

    /// The lock of a reader: in rollback mode while it reads, in WAL mode for the life of a connection.
    private var shared: FileLock { posix(0x4000_0002...0x4000_01FF) }
    private var reserved: FileLock { posix(0x4000_0001...0x4000_0001, exclusive: true) }
    private var connection: FileLock { posix(128...128) }

    private func breaches(_ files: LockedFile...) -> [String] {
        SandboxPolicy.breachesOfSuspension(by: files).map { "\($0.lock.rawValue) \($0.path)" }
    }

    private func memory(_ locks: FileLock...) -> LockedFile { LockedFile(path: database + "-shm", locks: locks) }

    @Test func noLockIsNoReason() {
        #expect(breaches().isEmpty)
        #expect(breaches(LockedFile(path: database, locks: [])).isEmpty)
    }

    @Test func anyLockOnAPlainFileIsOne() {
        for form in FileLock.Form.allCases {
            for isExclusive in [false, true] {
                let lock = FileLock(form, isExclusive: isExclusive, bytes: 0...UInt64.max)
                #expect(
                    breaches(LockedFile(path: "Groups/g/lock", locks: [lock])) == ["\(form.rawValue) Groups/g/lock"])
            }
        }
        // A single byte, and one that only touches what SQLite uses.
        #expect(breaches(LockedFile(path: "f", locks: [posix(7...7)])) == ["posix f"])
        #expect(breaches(LockedFile(path: "f", locks: [posix(0x3FFF_FFFF...0x4000_0000)])) == ["posix f"])
        #expect(breaches(LockedFile(path: "f", locks: [posix(0x4000_01FF...0x4000_0200)])) == ["posix f"])
    }

    @Test func aRollbackDatabaseCountsByItsLocks() {
        #expect(breaches(LockedFile(path: database, locks: [shared])) == ["sqlite \(database)"])
        #expect(breaches(LockedFile(path: database, locks: [shared, reserved])) == ["sqlite \(database)"])
        let exclusive = posix(0x4000_0000...0x4000_01FF, exclusive: true)
        #expect(breaches(LockedFile(path: database, locks: [exclusive])) == ["sqlite \(database)"])
    }

    @Test func anIdleConnectionInWALModeIsNoReason() {
        #expect(breaches(LockedFile(path: database, locks: [shared]), memory(connection)).isEmpty)
        // Without the lock of a connection it is a reader in rollback mode.
        #expect(breaches(LockedFile(path: database, locks: [shared]), memory()) == ["sqlite \(database)"])
    }

    @Test func eachLockOfATransactionInWALModeIsAReason() {
        for byte in UInt64(120)...127 {
            for isExclusive in [false, true] {
                let transaction = posix(byte...byte, exclusive: isExclusive)
                let found = breaches(LockedFile(path: database, locks: [shared]), memory(connection, transaction))
                #expect(found == ["sqlite \(database)"], "byte \(byte)")
            }
        }
        // Recovery locks several at once.
        #expect(breaches(memory(connection, posix(121...127, exclusive: true))) == ["sqlite \(database)"])
        for byte in [UInt64(119), 129] { #expect(breaches(memory(posix(byte...byte))).isEmpty, "byte \(byte)") }
    }

    @Test func anExclusiveConnectionInWALModeIsAReason() {
        // locking_mode=EXCLUSIVE keeps it after the transaction, on a phone too.
        let exclusive = posix(0x4000_0000...0x4000_01FF, exclusive: true)
        #expect(breaches(LockedFile(path: database, locks: [exclusive]), memory(connection)) == ["sqlite \(database)"])
        #expect(
            breaches(LockedFile(path: database, locks: [shared, reserved]), memory(connection)) == [
                "sqlite \(database)"
            ])
    }

    @Test func companionsDoNotCountForThemselves() {
        let whole = posix(0...UInt64.max, exclusive: true)
        for companion in ["-wal", "-journal", "-shm"] {
            #expect(breaches(LockedFile(path: database + companion, locks: [whole])).isEmpty, "\(companion)")
        }
        #expect(breaches(LockedFile(path: "Groups/g/x-journals", locks: [whole])) == ["posix Groups/g/x-journals"])
    }

    @Test func theAttributeExempts() {
        let exempt = LockedFile(path: database, isExempt: true, locks: [shared, reserved])
        #expect(breaches(exempt).isEmpty)
        // Of a database its -shm as well, which has no attribute of its own.
        #expect(breaches(exempt, memory(connection, posix(120...120, exclusive: true))).isEmpty)
        // But no other file.
        #expect(breaches(exempt, LockedFile(path: "Groups/g/f", locks: [posix(0...0)])) == ["posix Groups/g/f"])
    }

    @Test func locksOfSeveralDescriptorsCountTogether() {
        let found = breaches(
            LockedFile(path: database, locks: [shared]), memory(connection), memory(posix(123...123)),
            LockedFile(path: "Groups/g/b", locks: [FileLock(.flock, isExclusive: true, bytes: 0...UInt64.max)]),
            LockedFile(path: "Groups/g/b", locks: [FileLock(.ofd, isExclusive: false, bytes: 1...2)]))
        #expect(found == ["flock Groups/g/b", "ofd Groups/g/b", "sqlite \(database)"])
    }
}
