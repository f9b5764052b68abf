// The body of an answer that tells of its progress: newline-delimited JSON while the work is under way.

import AppContainer
import FlyingSocks
import FoundationEssentials
import Platform
import SandboxModel
import Synchronization

/// The lines of one piece of work, filled by its thread and emptied by the connection.
struct WorkBody: AsyncBufferedSequence {
    typealias Element = UInt8
    private let lines: AsyncStream<[UInt8]>
    private var answer: Answers.Answer?

    struct AsyncIterator: AsyncBufferedIteratorProtocol {
        var lines: AsyncStream<[UInt8]>.AsyncIterator
        let answer: Answers.Answer?

        /// FlyingFox reads bodies in pieces only.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            await lines.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(lines: lines.makeAsyncIterator(), answer: answer)
    }

    /// The same body, which keeps its answer until it has gone out.
    func owed(_ answer: Answers.Answer) -> WorkBody {
        var body = self
        body.answer = answer
        return body
    }

    /// Starts the work on a thread where it may block.
    /// - Parameter departure: until when the answer stays open behind its result; nil for not at all.
    init(
        on queue: WorkQueue, until departure: Departure? = nil,
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
                if let departure {
                    continuation.yield(end)
                    return departure.whenOccurred { continuation.finish() }
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
