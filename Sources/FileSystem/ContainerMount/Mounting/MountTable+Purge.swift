// Queries of a purge: the volume that may have an app's files open, and a wait for the kernel's invalidations.

public import ContainerVolume
import FuseBridge
import Platform
public import SandboxModel
import Synchronization

extension MountTable {
    /// The volume through which files of an app may be open. A privileged daemon has one volume for all apps, in which
    /// files stay open after a lazy unmount.
    public func volumeBehind(_ app: ContainerIdentifier) -> Volume? {
        state.withLock { state in
            state.device?.volume ?? state.records.record(of: app)?.volume
        }
    }

    /// The longest wait for the kernel, in nanoseconds: a process in a mount can hold it up.
    private static let kernelPatience: UInt64 = 2_000_000_000

    /// Waits until the kernel has obeyed all invalidations so far, or for two seconds. Do not call it on a thread for
    /// which a request may wait: the kernel may need that request's end first.
    public func waitForKernel() {
        let deadline = MonotonicClock.nanoseconds + MountTable.kernelPatience
        for superblock in superblocks { superblock.session.notifications.drain(until: deadline) }
    }
}
