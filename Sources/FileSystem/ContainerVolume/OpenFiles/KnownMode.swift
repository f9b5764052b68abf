// The mode of a backing file that was created a moment ago, so that the host need not be asked for it.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// The mode that an open file has on the host. Known of a file that was created by the call that opened it, and of no
/// other.
///
/// An archive's file is created, written, and given owner, mode and times: a look at the host before each costs more
/// than the change.
///
/// Lock rule: none, the mode is an atomic. Where it is set, the caller holds the node's open lock. An ordinary user's
/// daemon has a volume for each mount, and another of them may show the same file and change its mode: nothing that
/// matters to set-ID bits may rely on the mode there.
struct KnownMode: ~Copyable {
    /// With the type, which makes it other than 0; 0 where the mode is not known.
    private let bits = Atomic<mode_t>(0)

    /// A status with the mode, and nothing else.
    var status: FileStatus? {
        let mode = bits.load(ordering: .acquiring)
        guard mode != 0 else { return nil }
        var known = stat()
        known.st_mode = mode
        return FileStatus(known)
    }

    /// Called when the file was created, and after its mode was changed.
    borrowing func set(_ mode: mode_t) { bits.store(mode, ordering: .releasing) }

    /// Called after a change that says not which mode it has left.
    borrowing func forget() { bits.store(0, ordering: .releasing) }
}
