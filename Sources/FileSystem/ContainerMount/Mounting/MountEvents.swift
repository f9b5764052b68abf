// The callbacks by which mounts report their end, refused calls, lost writes and changes of files.

public import ContainerVolume
public import Glibc
public import SandboxModel

/// Callbacks of a device's mounts. All but `ended` and `failed` are called on the thread of a request.
public struct MountEvents: Sendable {
    /// A mount has ended. It must not call the table, whose other calls wait for its return.
    let ended: @Sendable (ActiveMount) -> Void
    /// Asked first for each refused call, with the rule and the caller's thread (0 if not visible). No lock is held.
    /// - Returns: the number of earlier calls not reported; nil if this one is not to be reported either.
    let admits: @Sendable (Rule, pid_t) -> Int?
    /// A refused call, before it returns. No lock is held.
    let refused: @Sendable (RefusedCall) -> Void
    /// A range that an application wrote while the device locked or restarted, and that was refused: when the file is
    /// closed, or its write has ended. Locks of the volume are held: it must not call the table.
    let lost: @Sendable (LostRange) -> Void
    /// Whether somebody follows changes of files: else nobody looks for the place of one.
    let followsChanges: @Sendable () -> Bool
    /// A call has changed a file, or the entries of a directory. No lock is held.
    let changed: @Sendable (HomePath) -> Void
    /// A line for the log about a request that failed with EIO because its reply was dropped, which is a bug of this
    /// program; at most once a minute.
    let dropped: @Sendable (String) -> Void
    /// A line for the log: a connection to the kernel can serve no longer, and ends with its mounts.
    let failed: @Sendable (String) -> Void

    public init(
        ended: @escaping @Sendable (ActiveMount) -> Void,
        admits: @escaping @Sendable (Rule, pid_t) -> Int? = { _, _ in 0 },
        refused: @escaping @Sendable (RefusedCall) -> Void = { _ in },
        lost: @escaping @Sendable (LostRange) -> Void = { _ in },
        followsChanges: @escaping @Sendable () -> Bool = { false },
        changed: @escaping @Sendable (HomePath) -> Void = { _ in },
        dropped: @escaping @Sendable (String) -> Void = { _ in },
        failed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.ended = ended
        self.admits = admits
        self.refused = refused
        self.lost = lost
        self.followsChanges = followsChanges
        self.changed = changed
        self.dropped = dropped
        self.failed = failed
    }
}
