// When a device's clock was moved, and how far: so that a time of the host can be told by the device's clock.

import Platform

/// The moves of a device's clock since it was the host's. A part of Device.json.
public struct ClockHistory: Codable, Equatable, Sendable {
    /// From an instant of the host on, the clock is so far ahead. Both in nanoseconds.
    private struct Move: Codable, Equatable {
        var host: Int64
        var ahead: Int64
    }

    /// As many as are remembered: for what is older than these, the first of them counts.
    static let most = 64
    /// Permitted values of ``ahead``: up to a hundred years.
    public static let aheads = Int64(0)...(100 * 366 * 86_400 * 1_000_000_000)

    private var moves: [Move] = []

    public init() {}

    public init(from decoder: any Decoder) throws {
        moves = try decoder.singleValueContainer().decode([Move].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(moves)
    }

    /// Nanoseconds by which the clock is ahead of the host's now.
    public var ahead: Int64 { moves.last?.ahead ?? 0 }

    var isPossible: Bool {
        moves.count <= ClockHistory.most
            && moves.allSatisfy { ClockHistory.aheads.contains($0.ahead) && DaySettings.times.contains($0.host) }
    }

    /// Begins a move, which ``advance(by:)`` makes in steps.
    mutating func begin(at host: HostTime) {
        moves.append(Move(host: host.nanoseconds, ahead: ahead))
        guard moves.count > ClockHistory.most else { return }
        moves.removeFirst()
        moves[0].host = 0
    }

    /// - Parameter nanoseconds: not negative; the sum is one of ``aheads``.
    mutating func advance(by nanoseconds: Int64) {
        if moves.isEmpty { moves = [Move(host: 0, ahead: 0)] }
        moves[moves.count - 1].ahead += nanoseconds
    }

    /// Nanoseconds by which the clock was ahead at a time that the host has given to a file. Such a time may be a tick
    /// too early: a file that seems to be from just before a move is from just after it.
    func ahead(at host: HostTime) -> Int64 {
        moves.last { host.nanoseconds >= $0.host - HostTime.tick }?.ahead ?? 0
    }
}
