// The changes of one setattr request.

public import Glibc
import Platform

/// The new values of a setattr request; nil leaves a value as it is.
public struct AttributeChange: Sendable {
    public enum Time: Sendable {
        case now
        case at(timespec)
    }

    public var mode: mode_t?
    public var owner: uid_t?
    public var group: gid_t?
    public var size: Int64?
    public var accessTime: Time?
    public var modificationTime: Time?

    public init() {}

    /// Whether nothing but times changes: such a request may come from the kernel itself.
    var isOnlyTimes: Bool { mode == nil && owner == nil && group == nil && size == nil }
}

extension AttributeChange.Time? {
    var raw: timespec {
        switch self {
        case nil: .unchanged
        case .now: .current
        case .at(let time): time
        }
    }
}
