// Whether a worker polls for its next request, by what its polls have found.

/// Lets a worker poll as long as that finds requests. Used by the worker's own thread.
///
/// A poll saves the waking of a thread where one client sends its next request at once. Where more clients than
/// processors are at work, requests go to other workers, and a poll takes the processor from those who have work.
struct PollingHabit {
    private var misses = 0
    /// Waits until the next poll, while polls find nothing.
    private var pause = PollingHabit.shortestPause
    private var waits = 0

    /// Polls in a row that found nothing, after which the worker goes to sleep at once.
    static let patience = 8
    /// One wait of so many is polled then, as the clients may be others by now: of twice as many after each that finds
    /// nothing.
    static let shortestPause = 16
    static let longestPause = 256

    /// Whether to poll at this wait.
    mutating func begins() -> Bool {
        guard misses >= PollingHabit.patience else { return true }
        waits += 1
        return waits >= pause
    }

    /// Notes the end of a poll.
    mutating func end(found: Bool) {
        waits = 0
        if found {
            misses = 0
            pause = PollingHabit.shortestPause
        } else if misses < PollingHabit.patience {
            misses += 1
        } else {
            pause = min(2 * pause, PollingHabit.longestPause)
        }
    }
}
