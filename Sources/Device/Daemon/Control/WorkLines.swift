// The body of a response that tells of progress: newline-delimited JSON while the work is under way.

import AppContainer
import ControlServer
import Platform
import SandboxModel
import Synchronization

/// The lines of one piece of work, written by its thread and read by the connection.
struct WorkLines: AsyncSequence, Sendable {
    private let lines: AsyncStream<[UInt8]>

    func makeAsyncIterator() -> AsyncStream<[UInt8]>.AsyncIterator {
        lines.makeAsyncIterator()
    }

    /// Starts the work on a thread where it may block.
    /// - Parameter client: the response stays open behind its result until this client has gone; nil for not at all.
    init(
        on queue: WorkQueue, until client: ClientDisconnect? = nil,
        _ work: @escaping @Sendable (@escaping ProgressReport) throws(Complaint) -> any Encodable & Sendable
    ) {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.lines = lines
        let pace = ProgressPace()
        // The client has gone: the next report tells the work.
        continuation.onTermination = { _ in pace.cancel() }
        queue.start {
            let end: [UInt8]
            do throws(Complaint) {
                let result = try work { progress in
                    guard !pace.isCancelled else { return false }
                    if pace.isDue { continuation.yield(ControlJSON.line(ProgressLine(progress: progress))) }
                    return true
                }
                end = ControlJSON.line(ResultLine(result: result))
                if let client {
                    continuation.yield(end)
                    return client.whenOccurred { continuation.finish() }
                }
            } catch {
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

/// The last line of an answer in lines, when all went well.
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

/// Lets ten reports a second through.
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
