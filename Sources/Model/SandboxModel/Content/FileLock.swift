// Advisory locks of files, as the kernel tells of them.

/// A lock that a process holds on a file.
public struct FileLock: Hashable, Sendable {
    /// The call that made it.
    public enum Form: String, CaseIterable, Sendable {
        /// `flock(2)`: the whole file, by the open file.
        case flock
        /// `fcntl(2)` with `F_SETLK`, by the process.
        case posix
        /// `fcntl(2)` with `F_OFD_SETLK`, by the open file.
        case ofd
    }

    public let form: Form
    /// Whether nobody else may hold any lock there.
    public let isExclusive: Bool
    /// The bytes from the first to the last one; the last is `UInt64.max` for all to come.
    public let bytes: ClosedRange<UInt64>

    public init(_ form: Form, isExclusive: Bool, bytes: ClosedRange<UInt64>) {
        self.form = form
        self.isExclusive = isExclusive
        self.bytes = bytes
    }
}

/// A file in a group container, and the locks that one process holds on it.
public struct LockedFile: Hashable, Sendable {
    /// Relative to the app's home.
    public let path: String
    /// Whether it has the attribute ``exemption``.
    public let isExempt: Bool
    public var locks: [FileLock]

    /// The attribute of a file that may stay locked while an app is suspended.
    public static let exemption = "com.apple.runningboard.can-suspend-locked"

    public init(path: String, isExempt: Bool = false, locks: [FileLock]) {
        self.path = path
        self.isExempt = isExempt
        self.locks = locks
    }
}

/// A lock for which a process is ended when it is suspended.
public struct SuspensionBreach: Hashable, Sendable {
    /// The kind of a lock, as events name it.
    public enum Lock: String, CaseIterable, Sendable {
        case flock, posix, ofd
        /// A transaction of a SQLite database.
        case sqlite

        init(_ form: FileLock.Form) {
            self =
                switch form {
                case .flock: .flock
                case .posix: .posix
                case .ofd: .ofd
                }
        }
    }

    /// Relative to the app's home; of a database the database itself, also where the lock is on its `-shm`.
    public let path: String
    public let lock: Lock

    public init(path: String, lock: Lock) {
        self.path = path
        self.lock = lock
    }

    public init(path: String, form: FileLock.Form) {
        self.init(path: path, lock: Lock(form))
    }

    /// The reason of the event `terminated`: the code in the crash report of a phone.
    public static let reason = "0xdead10cc"
}
