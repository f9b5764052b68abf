// A process that stands by this one, so that its mounts end when it is killed. What it does and why is in Guard.c.

import CPlatform
import Glibc
import Synchronization

public final class MountGuard: Sendable {
    /// nil when it was sent away.
    private let news: Mutex<Descriptor?>

    /// Starts it; it ends with this process.
    /// - Returns: nil when it cannot be started: mounts then end as the kernel ends them.
    public init?() {
        let number = platform_start_guard()
        guard number >= 0 else { return nil }
        news = Mutex(Descriptor(owning: number))
    }

    /// A mount of a FUSE filesystem that this process serves.
    /// - Returns: the kernel's number of it, for ``ended(_:)``.
    public func mounted(at path: String) -> UInt32? {
        guard let connection = (try? MountInfo.all())?.last(where: { $0.mountPoint == path })?.minor else { return nil }
        tell(connection, isMounted: true, path)
        return connection
    }

    /// The mount has ended: its number may come to mean another.
    public func ended(_ connection: UInt32) {
        tell(connection, isMounted: false, "")
    }

    /// Ends it: there will be no mount.
    public func dismiss() {
        news.withLock { $0 = nil }
    }

    private func tell(_ connection: UInt32, isMounted: Bool, _ path: String) {
        var message = platform_guarded()
        message.is_mounted = isMounted ? 1 : 0
        message.connection = connection
        // The struct is a local, and zero at first: a path that fits is followed by a NUL.
        unsafe withUnsafeMutableBytes(of: &message.path) { bytes in
            if path.utf8.count < bytes.count { unsafe bytes.copyBytes(from: path.utf8) }
        }
        news.withLock { news in
            guard let number = news?.number else { return }
            _ = unsafe withUnsafeBytes(of: &message) { unsafe write(number, $0.baseAddress, $0.count) }
        }
    }
}
