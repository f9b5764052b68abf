// The device's clock: the host's, and as far ahead of it as it was advanced.

public import Platform
import Synchronization

/// The clock of a device. Its ages and waits are measured by it. Files have the times of the host.
///
/// Lock rule: none, the difference is an atomic. One thread at a time changes it.
public final class DeviceClock: Sendable {
    private let difference: Atomic<Int64>

    /// - Parameter ahead: nanoseconds by which it is ahead of the host's clock.
    public init(ahead: Int64 = 0) {
        difference = Atomic(ahead)
    }

    /// Nanoseconds by which it is ahead of the host's clock.
    public var ahead: Int64 {
        get { difference.load(ordering: .relaxed) }
        set { difference.store(newValue, ordering: .relaxed) }
    }

    public var now: HostTime { HostTime(nanoseconds: HostTime.now.nanoseconds + ahead) }
}
