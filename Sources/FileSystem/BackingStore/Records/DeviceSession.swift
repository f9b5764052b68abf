// Sessions: the runs of the processes that served a device, and how each ended.

import Glibc
import Platform
import SandboxModel

/// The end of the session before this one. It decides how much unfinished work has to be verified.
public enum SessionStart: String, Sendable {
    /// A shutdown, or no session before.
    case clean
    /// Its process was killed and the host ran on: all its writes arrived.
    case afterKill
    /// The host went down, or the device came from another host: unsynchronized writes may be missing.
    case afterHostCrash
    /// The record of sessions was missing, damaged or not the device's own.
    case unknown
}

/// One run of a process that serves the device.
public struct DeviceSession: Equatable, Sendable {
    /// Counts from 1. Every page that the session writes bears it.
    public let number: UInt32
    public let start: SessionStart
    /// Earlier sessions whose process was killed.
    public let killed: [UInt32]
    /// Earlier sessions during which the host went down.
    public let powerLost: [UInt32]
    /// The spans of both kinds of sessions.
    public let times: [UInt32: SessionHistory.Time]
    /// Bytes of the host that the containers take, counted by the session before; nil if it did not end in order, or
    /// the device was copied since.
    public let used: Int64?
    /// Changes that failed halfway in sessions that ended in order.
    let unfinished: Set<UnfinishedChange>
}

/// A file in which a change failed halfway, and the session in which it did.
struct UnfinishedChange: Hashable, Sendable {
    let session: UInt32
    let file: FileIdentity
    /// Whether its header may disagree with the length of the backing file.
    let lengthIsUncertain: Bool
}

extension UnfinishedChange {
    private static let lengthMark = "length"

    /// The session, the file's identity in hexadecimal digits, and `length` if that is uncertain; with spaces between.
    var text: String { "\(session) \(file.text)" + (lengthIsUncertain ? " \(UnfinishedChange.lengthMark)" : "") }

    /// - Returns: nil unless the text is a ``text``.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard (2...3).contains(words.count), let session = UInt32(words[0]), let file = FileIdentity(String(words[1])),
            words.count == 2 || words[2] == UnfinishedChange.lengthMark
        else { return nil }
        self.init(session: session, file: file, lengthIsUncertain: words.count == 3)
    }
}

/// The content of Sessions.json.
struct SessionRecord: Codable, Equatable {
    /// The last session that began; 0 before the first.
    var current: UInt32 = 0
    /// The host's boot in which it began: see ``HostBoot``.
    var bootID = ""
    /// Whether it ended by a clean shutdown.
    var ended = true
    var killed: [UInt32] = []
    var powerLost: [UInt32] = []
    /// The begin of the last session, in nanoseconds since 1970 as all times here.
    var began: Int64?
    /// The spans of the sessions in `killed` and `powerLost`.
    var times: [Span]?
    /// Bytes of the host that the containers took when the last session ended.
    var used: Int64?
    /// The inode of the device's directory then. A copy has another, and may take other space.
    var usedIn: UInt64?
    /// The files in which changes failed halfway, in sessions that ended in order. nil without any.
    /// Each is an ``UnfinishedChange/text``: decoding a type of its own would cost every start more.
    var unfinished: [String]?

    /// The most of them that are kept, the latest: the record has to fit into ``RecordReserve``. Of older ones the
    /// blocks that were not written whole cannot be read.
    private static let mostUnfinished = 1000

    struct Span: Codable, Equatable {
        var session: UInt32
        var from: Int64
        /// The begin of the next one.
        var until: Int64
    }

    /// The next session, and the record with it.
    /// - Parameter directory: inode number of the device's directory.
    func next(
        bootID now: String, at time: HostTime, in directory: UInt64, isLost: Bool = false
    ) throws(Complaint) -> (SessionRecord, DeviceSession) {
        guard current < UInt32.max else { throw Complaint(.damaged, "the device has no session number left") }
        var record = self
        var start = isLost ? SessionStart.unknown : .clean
        if !ended, bootID == now {
            start = .afterKill
            record.killed.append(current)
        } else if !ended {
            start = .afterHostCrash
            record.powerLost.append(current)
        }
        if !ended, let began, began <= time.nanoseconds {
            // Unknown if the host's clock went back.
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
            times: record.spans, used: ended && usedIn == directory ? possibleUse : nil,
            unfinished: record.unfinishedChanges)
        return (record, session)
    }

    /// A record that knows of no earlier session, and whose next one has a number that no page bears yet: sessions are
    /// counted one by one from 1, and the seconds since 1970 are more than any device has had.
    static func lost(at time: HostTime) -> SessionRecord {
        SessionRecord(current: UInt32(clamping: time.nanoseconds / 1_000_000_000))
    }

    /// Records the end of the present session.
    /// - Parameter files: those in which a change failed halfway.
    mutating func end(unfinished files: [DisturbedFile]) {
        ended = true
        guard !files.isEmpty else { return }
        let new = files.map {
            UnfinishedChange(session: current, file: $0.identity, lengthIsUncertain: $0.lengthIsUncertain).text
        }
        unfinished = ((unfinished ?? []) + new).suffix(SessionRecord.mostUnfinished)
    }

    private var unfinishedChanges: Set<UnfinishedChange> {
        Set((unfinished ?? []).compactMap { UnfinishedChange($0) })
    }

    /// nil for a number that no count gives: whoever owns the device may write what he likes into the file.
    private var possibleUse: Int64? {
        used.flatMap { (0...DeviceSettings.capacities.upperBound).contains($0) ? $0 : nil }
    }

    /// The spans that a clock can have shown. A session without one may have been at any time.
    private var spans: [UInt32: SessionHistory.Time] {
        let known = (times ?? []).filter { 0 <= $0.from && $0.from <= $0.until }.map {
            ($0.session, HostTime(nanoseconds: $0.from - HostTime.tick)...HostTime(nanoseconds: $0.until))
        }
        return Dictionary(known) { $1 }
    }
}
