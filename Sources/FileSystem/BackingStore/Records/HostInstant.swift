// The host's boot, and instants relative to it.

import Glibc
import Platform
public import SandboxModel

/// The host's boot, by which a kill is told from a power cut.
public enum HostBoot {
    /// `boot_id` of random(4): a random UUID for each boot.
    public static func identifier() throws(SystemError) -> String {
        let file = try Descriptor.open(path: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY)
        let buffer = PageBuffer(count: 64)
        let count = try file.read(into: buffer, count: 36, from: 0)
        return String(decoding: buffer.bytes(0, count: count), as: UTF8.self)
    }
}

/// An instant that no change of the host's clock moves: a boot of the host, and the time since.
public struct HostInstant: Equatable, Sendable {
    public let bootID: String
    /// Nanoseconds of CLOCK_BOOTTIME, which goes on while the host sleeps.
    public let nanoseconds: Int64

    public init(bootID: String, nanoseconds: Int64) {
        self.bootID = bootID
        self.nanoseconds = nanoseconds
    }

    /// The instant that is so many nanoseconds later.
    public func later(by nanoseconds: Int64) -> HostInstant {
        HostInstant(bootID: bootID, nanoseconds: self.nanoseconds + nanoseconds)
    }

    public static func now() throws(Complaint) -> HostInstant {
        let boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
        return HostInstant(bootID: boot, nanoseconds: MonotonicClock.nanosecondsSinceBoot)
    }
}
