// The changes that chmod(2), chown(2), truncate(2) and utimensat(2) make. One SETATTR of FUSE may hold several.

public import Glibc

/// New values of a file's status; nil leaves a value as it is.
public struct FileStatusChange: Sendable {
    public enum Time: Sendable {
        case now
        case at(timespec)
    }

    /// The permissions, with the file type or without.
    public var mode: mode_t?
    public var owner: uid_t?
    public var group: gid_t?
    /// In bytes.
    public var size: Int64?
    /// Whether a change of the size clears set-ID bits: the caller has no CAP_FSETID.
    public var clearsSetIDs = false
    public var accessTime: Time?
    public var modificationTime: Time?

    public init() {}

    /// Whether nothing changes: chown(2) with neither an owner nor a group.
    public var isEmpty: Bool { isOnlyTimes && accessTime == nil && modificationTime == nil }

    /// Whether nothing but times changes.
    public var isOnlyTimes: Bool { mode == nil && owner == nil && group == nil && size == nil }
}

extension FileStatusChange.Time? {
    /// The value for utimensat(2), with UTIME_OMIT and UTIME_NOW.
    public var raw: timespec {
        switch self {
        case nil: .unchanged
        case .now: .current
        case .at(let time): time
        }
    }
}
