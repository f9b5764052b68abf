// Whether a worker polls for its next request, by what its polls have found.

/// Lets a worker poll as long as that finds requests. Used by the worker's own thread.
///
/// A poll saves the waking of a thread where one client sends its next request at once. Where more clients than
/// processors are at work, requests go to other workers, and a poll takes the processor from those who have work.
struct PollingHabit {
    private var misses = 0
    private var sleeps = 0

    /// Polls in a row that found nothing, after which the worker goes to sleep at once.
    static let patience = 8
    /// One wait of so many is polled then: the clients may be others by now.
    static let interval = 16

    /// Whether to poll at this wait.
    mutating func begins() -> Bool {
        guard misses >= PollingHabit.patience else { return true }
        sleeps = (sleeps + 1) % PollingHabit.interval
        return sleeps == 0
    }

    /// Notes the end of a poll.
    mutating func end(found: Bool) {
        misses = found ? 0 : min(misses + 1, PollingHabit.patience)
    }
}
