// The body of a response with progress: newline-delimited JSON while the work is under way.

import AppContainer
import ControlServer
import Platform
import SandboxModel
import Synchronization

/// The lines of one handler's work, written by its thread and read by the connection: any number with `progress`, then
/// one with `result` or `complaint` (``WorkLine``).
struct WorkLines: AsyncSequence, Sendable {
    private let lines: AsyncStream<[UInt8]>

    func makeAsyncIterator() -> AsyncStream<[UInt8]>.AsyncIterator {
        lines.makeAsyncIterator()
    }

    /// Starts the work on a thread where it may block.
    /// - Parameters:
    ///   - path: of the request, for the log.
    ///   - staysOpen: whether the response stays open behind its result until the client has gone.
    init(
        _ call: ControlCall, path: String, staysOpen: Bool = false,
        _ work: @escaping @Sendable (@escaping ProgressReport) throws(Complaint) -> any Encodable & Sendable
    ) {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.lines = lines
        let pace = ProgressPace()
        // The client has gone: the work sees it at its next report.
        continuation.onTermination = { _ in pace.cancel() }
        call.queue.start {
            let end: [UInt8]
            do throws(Complaint) {
                let result = try work { progress in
                    guard !pace.isCancelled else { return false }
                    if pace.isDue { continuation.yield(ControlJSON.line(ProgressLine(progress: progress))) }
                    return true
                }
                end = ControlJSON.line(ResultLine(result: result))
                if staysOpen {
                    continuation.yield(end)
                    return call.client.whenOccurred { continuation.finish() }
                }
            } catch {
                call.log.refusal(of: ControlPath.root + path, error)
                end = ControlJSON.line(AppContainer.Failure(DeviceError(error)))
            }
            continuation.yield(end)
            continuation.finish()
        }
    }

    private struct ProgressLine: Encodable {
        let progress: WorkProgress
    }
}

/// The last line of a response in lines, after success.
struct ResultLine: Encodable {
    let result: any Encodable

    private enum CodingKeys: CodingKey {
        case result
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(result, forKey: .result)
    }
}

/// Lets ten reports a second through, and remembers that the client has gone.
/// Lock: of the time of the next report, for moments only.
private final class ProgressPace: Sendable {
    private let next = Mutex(ContinuousClock.now)
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        cancelled.store(true, ordering: .relaxed)
    }

    var isDue: Bool {
        next.withLock { next in
            let now = ContinuousClock.now
            guard now >= next else { return false }
            next = now + .milliseconds(100)
            return true
        }
    }
}
