// The agreement of a session with the kernel, as INIT brings it about.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// Lock: `outcome`, a leaf.
final class Negotiation: Sendable {
    private struct Outcome {
        var transport: Transport?
        /// The reason why requests do not come by io_uring.
        var obstacle = RingObstacle.notOffered
        /// Whether the mount is refused, since it has not the transport that was demanded.
        var isRefused = false
    }

    private let outcome = Monitor(Outcome())
    /// Whether INIT has come.
    private let hasBegun = Atomic<Bool>(false)
    /// Whether a request may have come by an entry.
    private let ringsInUse = Atomic<Bool>(false)

    @inline(__always)
    var usesRings: Bool { ringsInUse.load(ordering: .acquiring) }

    /// - Returns: true at the first call.
    @inline(__always)
    func beginsNow() -> Bool {
        guard !hasBegun.load(ordering: .relaxed) else { return false }
        return !hasBegun.exchange(true, ordering: .relaxed)
    }

    func noteRingsInUse() { ringsInUse.store(true, ordering: .releasing) }

    func note(_ obstacle: RingObstacle) { outcome.access { $0.obstacle = obstacle } }

    func settle(_ transport: Transport) { outcome.access { $0.transport = $0.transport ?? transport } }

    /// The session is over. Without an INIT it had no transport but /dev/fuse.
    func end() { settle(.devFuse) }

    /// The transport that was agreed; waits for the kernel's INIT.
    var transport: Transport { outcome.wait { $0.transport } }

    var obstacle: RingObstacle { outcome.access { $0.obstacle } }

    func refuse() { outcome.access { $0.isRefused = true } }

    var isAccepted: Bool { outcome.access { !$0.isRefused } }
}

/// A reason why a mount has no io_uring.
enum RingObstacle: Sendable {
    /// The kernel's INIT does not offer it.
    case notOffered
    /// The number of queues is not known.
    case unknownProcessors
    /// No ring could be made, for this error.
    case noRing(SystemError)
    /// The kernel refused an entry.
    case refused(SystemError)

    /// The problem and its remedy, for the user who demanded io_uring.
    var message: String {
        switch self {
        case .notOffered:
            "this kernel does not offer FUSE over io_uring: with Linux 6.14 or later ask root for "
                + "echo Y > /sys/module/fuse/parameters/enable_uring"
        case .unknownProcessors:
            "the number of this machine's processors cannot be read from /sys/devices/system/cpu/possible: mount /sys"
        case .noRing(let error) where error.code == ENOMEM:
            "there is no memory for io_uring: raise the limit of locked memory (ulimit -l)"
        case .noRing(let error) where [EPERM, ENOSYS, EACCES].contains(error.code):
            "this process may not use io_uring: see sysctl kernel.io_uring_disabled and the container's seccomp profile"
        case .noRing(let error): "no io_uring could be made: \(error.message)"
        case .refused(let error): "the kernel took no request queue over io_uring: \(error.message)"
        }
    }
}
