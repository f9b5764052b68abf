// The numbers of the serving processes: pages carry the number of the session that wrote them.

import Glibc
import Platform
import SandboxModel

/// How the session before this one ended, and with it how much of what it left half done has to be looked at.
public enum SessionStart: String, Sendable {
    /// It shut down, or there was none.
    case clean
    /// Its process ended, and the host ran on: everything it wrote is there.
    case afterKill
    /// The host itself went down, or the device came from another host: what was not synchronized may be missing.
    case afterHostCrash
}

/// One run of a process that serves the device.
public struct DeviceSession: Equatable, Sendable {
    /// Counts from 1.
    public let number: UInt32
    public let start: SessionStart
    /// Earlier sessions whose process was killed.
    public let killed: [UInt32]
    /// Earlier sessions during which the host went down.
    public let powerLost: [UInt32]
    /// When those of both kinds were.
    public let times: [UInt32: SessionHistory.Time]
    /// Bytes of the host that the containers take, as the session before counted them; nil when it did not end in order
    /// or the device has been copied here since.
    public let used: Int64?
}

/// What Sessions.json holds.
struct SessionRecord: Codable, Equatable {
    /// The last session that began; 0 before the first.
    var current: UInt32 = 0
    /// The host's boot in which it began.
    var bootID = ""
    /// Whether it ended by a clean shutdown.
    var ended = true
    var killed: [UInt32] = []
    var powerLost: [UInt32] = []
    /// When the last session began, in nanoseconds since 1970, as all times here.
    var began: Int64?
    /// When the killed ones and those that lost power were.
    var times: [Span]?
    /// Bytes of the host that the containers took when the last session ended.
    var used: Int64?
    /// The inode of the device's directory then: a copy may take more or less where it is.
    var usedIn: UInt64?

    struct Span: Codable, Equatable {
        var session: UInt32
        var from: Int64
        /// When the next one began.
        var until: Int64
    }

    /// The record of the next session, and the session.
    func next(
        bootID now: String, at time: HostTime, in directory: UInt64
    ) throws(Complaint) -> (SessionRecord, DeviceSession) {
        guard current < UInt32.max else { throw Complaint(.damaged, "the device has no session number left") }
        var record = self
        var start = SessionStart.clean
        if !ended, bootID == now {
            start = .afterKill
            record.killed.append(current)
        } else if !ended {
            start = .afterHostCrash
            record.powerLost.append(current)
        }
        if !ended, let began, began <= time.nanoseconds {
            // A host's clock that went back leaves the times unknown.
            record.times = (times ?? []) + [Span(session: current, from: began, until: time.nanoseconds)]
        }
        record.current += 1
        record.bootID = now
        record.began = time.nanoseconds
        record.ended = false
        record.used = nil
        record.usedIn = nil
        let session = DeviceSession(
            number: record.current, start: start, killed: record.killed, powerLost: record.powerLost,
            times: record.spans, used: ended && usedIn == directory ? used : nil)
        return (record, session)
    }

    private var spans: [UInt32: SessionHistory.Time] {
        let known = (times ?? []).filter { $0.from <= $0.until }.map {
            ($0.session, HostTime(nanoseconds: $0.from - HostTime.tick)...HostTime(nanoseconds: $0.until))
        }
        return Dictionary(known) { $1 }
    }
}

enum HostBoot {
    /// A random UUID that the kernel makes at each boot (random(4)).
    static func identifier() throws(SystemError) -> String {
        let file = try Descriptor.open(path: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY)
        let buffer = PageBuffer(count: 64)
        let count = try file.read(into: buffer, count: 36, from: 0)
        return String(decoding: buffer.bytes(0, count: count), as: UTF8.self)
    }
}
