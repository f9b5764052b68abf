// For how long a figure of the purgeable bytes is good: a value without a clock of its own.

import SandboxModel

/// The number of purgeable bytes, as it was last found. To find it, containers are walked.
///
/// A figure is good for a second while nothing is known to have changed. While files change, it is found again for a
/// tenth of the time, and no more.
struct PurgeableEstimate {
    /// The facts that change when the figure may have changed.
    struct Conditions: Equatable {
        /// Bytes that the containers take.
        let used: Int64
        /// Counts openings, closes and creations of files (``UseRecord``).
        let uses: UInt64
        let running: Set<ContainerIdentifier>
    }

    private struct Figure {
        let bytes: Int64
        let time: ContinuousClock.Instant
        /// How long it took to find.
        let effort: Duration
        let conditions: Conditions
    }

    private var figure: Figure?

    /// - Returns: nil where the bytes are to be found anew.
    func bytes(at now: ContinuousClock.Instant, under conditions: Conditions) -> Int64? {
        guard let figure, figure.conditions.running == conditions.running else { return nil }
        let lifetime = figure.conditions == conditions ? .seconds(1) : figure.effort * 10
        return now - figure.time < lifetime ? figure.bytes : nil
    }

    /// - Parameter start: when the walk began that found the bytes under these conditions.
    mutating func record(
        _ bytes: Int64, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant,
        under conditions: Conditions
    ) {
        figure = Figure(bytes: bytes, time: start, effort: end - start, conditions: conditions)
    }
}
