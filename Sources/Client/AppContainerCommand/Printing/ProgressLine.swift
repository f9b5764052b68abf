// The progress line on the terminal.

import AppContainer
import BackingStore
import Daemon
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Shows progress on standard error if that is a terminal which can erase it, after one second, and erases it at the
/// end.
///
/// Lock: `state`, held while the line is drawn, so that two threads do not mix their output.
final class ProgressLine: Sendable {
    /// The line appears a second after this, so that a fast command shows none.
    private let begin = ContinuousClock.now
    private let isTerminal =
        Terminal.isTerminal(STDERR_FILENO) && Style.isCapable(ProcessSettings.variable("TERM"))
    private let state = Mutex(State())

    private struct State {
        /// Whether the line is on the terminal now, and has to be erased.
        var shown = false
        /// The time from which the line may be drawn again.
        var next = ContinuousClock.now
    }

    /// ``show(_:)`` as a closure for requests.
    var report: @Sendable (WorkProgress) -> Void {
        { [self] progress in show(progress) }
    }

    /// Draws the line, at most ten times a second. Any thread may call it.
    func show(_ progress: WorkProgress) {
        let now = ContinuousClock.now
        guard isTerminal, now - begin > .seconds(1) else { return }
        state.withLock { state in
            guard now >= state.next else { return }
            state.next = now + .milliseconds(100)
            state.shown = true
            // Back to the first column, and erase to the end of the line (ECMA-48, EL).
            StandardError.write("\r\u{1B}[K" + ProgressLine.text(progress))
        }
    }

    /// Erases the line.
    func end() {
        state.withLock { state in
            if state.shown { StandardError.write("\r\u{1B}[K") }
            state.shown = false
        }
    }

    /// The line: a bar if the total is known, else a count.
    static func text(_ progress: WorkProgress) -> String {
        guard let total = progress.total, total > 0 else {
            return "\(progress.activity): \(progress.count(progress.done))"
        }
        let done = min(progress.done, total)
        let filled = Int(done * Int64(barLength) / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barLength - filled)
        return "\(progress.activity): [\(bar)] \(done * 100 / total) % of \(progress.count(total))"
    }

    /// Characters of the bar, without its brackets.
    private static let barLength = 20
}

extension WorkProgress {
    fileprivate func count(_ number: Int64) -> String {
        switch unit {
        case .bytes: Output.size(number)
        case .files: "\(number) file\(number == 1 ? "" : "s")"
        }
    }
}

/// Runs a request of the daemon with a progress line. ^C needs no care here: the daemon cancels the work when the
/// connection of this process is closed.
func showingProgress<Result>(
    _ body: (ProgressLine) async throws -> Result
) async throws -> Result {
    let line = ProgressLine()
    defer { line.end() }
    return try await body(line)
}

/// Runs work of this process with a progress line. A signal cancels it: the closure given to `body` then returns false,
/// and `body` undoes its work, or leaves a state from which the command can be repeated.
/// - Parameter activity: the work as a participle, for the line, such as "cloning".
func working(
    _ activity: String, _ body: ((DeviceProgress) -> Bool) throws(Complaint) -> Void
) throws(Complaint) {
    let line = ProgressLine()
    let isCancelled = CancellationMark()
    let interrupts = Interrupts { isCancelled.set() }
    defer {
        interrupts.end()
        line.end()
    }
    try body { progress in
        line.show(WorkProgress(activity: activity, progress))
        return !isCancelled.isSet
    }
}

/// A flag that the signal's queue sets and the working thread reads.
private final class CancellationMark: Sendable {
    private let mark = Atomic(false)

    var isSet: Bool { mark.load(ordering: .relaxed) }

    func set() {
        mark.store(true, ordering: .relaxed)
    }
}
