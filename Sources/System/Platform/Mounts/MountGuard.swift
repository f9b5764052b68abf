// A process beside this one that ends its mounts if it is killed, and kills it if it stays stopped while callers wait
// for its rings. Guard.c says why that takes a process.

import CProcess
import Glibc
public import SandboxModel
import Synchronization

/// The connection to the guard: it is told of each FUSE mount that this process serves, and of its end.
///
/// Lock: `news`, a leaf, held while a report is written.
public final class MountGuard: Sendable {
    /// The pipe to the guard; nil after ``dismiss()``.
    private let news: Mutex<Descriptor?>

    /// `fork(2)`: starts the guard, which ends with this process.
    /// - Returns: nil if it cannot be started. Mounts then end as the kernel ends them.
    public init?() {
        let number = process_start_guard()
        guard number >= 0 else { return nil }
        news = Mutex(Descriptor(owning: number))
    }

    /// `write(2)` to the guard: this process serves a FUSE mount.
    /// - Returns: the number of the FUSE connection, for ``ended(_:)``.
    public func mounted(at path: String, over transport: Transport) -> UInt32? {
        guard let connection = MountInfo.topmost(at: path)?.minor else {
            return nil
        }
        report { message in
            message.is_mounted = 1
            message.uses_rings = transport == .ioUring ? 1 : 0
            message.connection = connection
            // The struct is zero at first, so that a path that fits ends with NUL.
            unsafe withUnsafeMutableBytes(of: &message.path) { bytes in
                if path.utf8.count < bytes.count { unsafe bytes.copyBytes(from: path.utf8) }
            }
        }
        return connection
    }

    /// `write(2)` to the guard: the mount has ended. The kernel may reuse its number.
    public func ended(_ connection: UInt32) {
        report { $0.connection = connection }
    }

    /// Ends the guard, for a process that will mount nothing.
    public func dismiss() {
        news.withLock { $0 = nil }
    }

    /// Writes a report. A path that is too long for one is left out; the guard needs it only where it cannot abort the
    /// connection by sysfs.
    private func report(_ fill: (inout guarded_mount) -> Void) {
        var message = guarded_mount()
        fill(&message)
        news.withLock { news in
            guard let number = news?.number else { return }
            _ = unsafe withUnsafeBytes(of: &message) { unsafe write(number, $0.baseAddress, $0.count) }
        }
    }
}
