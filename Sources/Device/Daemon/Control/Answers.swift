// The answers on their way to clients: a daemon that ends lets those go out that it owes.

import FlyingSocks
import Platform

/// Counts the answers that are under way.
final class Answers: Sendable {
    private let owed = Monitor(0)

    /// One answer: owed from the request to the moment when nobody needs it any more, because it has been written to
    /// the socket or the client went away.
    final class Answer: Sendable {
        private let answers: Answers

        fileprivate init(_ answers: Answers) {
            self.answers = answers
            answers.owed.access { $0 += 1 }
        }

        deinit {
            answers.owed.access { $0 -= 1 }
        }
    }

    func begin() -> Answer {
        Answer(self)
    }

    /// Waits until no answer is under way, for a second at most.
    func drain() async {
        await withTaskGroup { group in
            group.addTask { [owed] in
                await WorkQueue().run { owed.wait { $0 == 0 ? () : nil } }
            }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            // The thread that still waits, if there is one, ends with the process.
            owed.access { $0 = 0 }
            group.cancelAll()
        }
    }
}

/// The whole body of an answer.
struct AnswerBody: AsyncBufferedSequence {
    typealias Element = UInt8

    private let bytes: [UInt8]
    private let answer: Answers.Answer

    init(_ bytes: [UInt8], _ answer: Answers.Answer) {
        self.bytes = bytes
        self.answer = answer
    }

    struct AsyncIterator: AsyncBufferedIteratorProtocol {
        fileprivate var rest: AnswerBody?

        /// FlyingFox reads bodies in pieces only.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            defer { rest = nil }
            return rest?.bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(rest: self)
    }
}
