// What a purge asks of the mounts: who may have an app's files open, and when the kernel has forgotten what went.

public import ContainerVolume
import FuseBridge
public import SandboxModel
import Synchronization

extension MountTable {
    /// The volume through which files of an app may be open. A privileged daemon's shows every app that ever was mounted,
    /// and what is open in one works on after its bind was unmounted lazily.
    public func volumeBehind(_ app: ContainerIdentifier) -> Volume? {
        state.withLock { state in
            state.device?.volume ?? state.records.values.first { $0.mount.app == app }?.volume
        }
    }

    /// Waits until the kernel has forgotten all that it was told to forget so far. Never on a thread that a request may
    /// wait for: the kernel may wait for that request before it obeys.
    public func waitForKernel() {
        for superblock in superblocks { superblock.session.notifications.drain() }
    }
}
