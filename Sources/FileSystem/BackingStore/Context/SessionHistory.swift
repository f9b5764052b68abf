// How earlier sessions ended: tells which pages of a file may be half written.

public import Platform

/// How the sessions of a device ended.
///
/// Every page bears the number of the session that wrote it. A page of a session that ended without a shutdown may be
/// followed by bytes that never arrived, and is verified more closely.
public struct SessionHistory: Sendable {
    public enum Ending: Sendable {
        /// Shut down, or still running: its pages are as they claim.
        case orderly
        /// The process ended and the host ran on: every write arrived, in order.
        case killed
        /// The host stopped: writes after the last fsync arrived in any order, or not at all.
        case powerLost
    }

    /// The span of a session, by the host's clock.
    public typealias Time = ClosedRange<HostTime>

    public let current: UInt32
    private let killed: Set<UInt32>
    private let powerLost: Set<UInt32>
    private let times: [UInt32: Time]
    private let unfinished: Set<UnfinishedChange>
    /// Whether nothing is known of earlier sessions: each may have been killed within a write.
    let isOfAnotherDevice: Bool

    /// The history of files of another device.
    public static let ofAnotherDevice = SessionHistory(
        current: .max, killed: [], powerLost: [], times: [:], unfinished: [], isOfAnotherDevice: true)

    /// - Parameter times: the spans of sessions that did not end in order, each up to the beginning of the next. A
    ///   session without one may have been at any time.
    public init(
        current: UInt32, killed: Set<UInt32> = [], powerLost: Set<UInt32> = [], times: [UInt32: Time] = [:]
    ) {
        self.init(current: current, killed: killed, powerLost: powerLost, times: times, unfinished: [])
    }

    /// - Parameter unfinished: changes that failed halfway in sessions that ended in order.
    init(
        current: UInt32, killed: Set<UInt32>, powerLost: Set<UInt32>, times: [UInt32: Time],
        unfinished: Set<UnfinishedChange>, isOfAnotherDevice: Bool = false
    ) {
        self.isOfAnotherDevice = isOfAnotherDevice
        self.current = current
        self.killed = killed
        self.powerLost = powerLost
        self.unfinished = unfinished
        self.times = times
    }

    public func ending(of session: UInt32) -> Ending {
        if powerLost.contains(session) { return .powerLost }
        return isOfAnotherDevice || killed.contains(session) ? .killed : .orderly
    }

    /// Whether a change of a file failed halfway in a session that ended in order.
    func isUnfinished(_ file: FileIdentity, in session: UInt32) -> Bool {
        isLengthUnfinished(file, in: session)
            || !unfinished.isEmpty
                && unfinished.contains(UnfinishedChange(session: session, file: file, lengthIsUncertain: false))
    }

    /// Whether such a change may have left a header that disagrees with the length of the backing file.
    func isLengthUnfinished(_ file: FileIdentity, in session: UInt32) -> Bool {
        !unfinished.isEmpty
            && unfinished.contains(UnfinishedChange(session: session, file: file, lengthIsUncertain: true))
    }

    /// Whether any session with this ending was under way at some time.
    func isDuring(_ ending: Ending, _ time: HostTime) -> Bool {
        (ending == .killed ? killed : powerLost).contains { times[$0]?.contains(time) ?? true }
    }

    /// Whether the host stopped after this session began.
    public func lostPower(since session: UInt32) -> Bool {
        powerLost.contains { $0 >= session }
    }

    public var hasLostPower: Bool { !powerLost.isEmpty }
}

extension DeviceSession {
    public var history: SessionHistory {
        SessionHistory(
            current: number, killed: Set(killed), powerLost: Set(powerLost), times: times, unfinished: unfinished)
    }
}
