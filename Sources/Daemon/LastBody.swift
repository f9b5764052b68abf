// An answer after which there is nothing more to do: it says when it has gone out.

import FlyingSocks

/// The whole body of an answer. Its closure is called when nobody needs the body any more: it has been written to
/// the socket, or the client went away.
struct LastBody: AsyncBufferedSequence {
    typealias Element = UInt8

    private final class Farewell: Sendable {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        deinit {
            body()
        }
    }

    private let bytes: [UInt8]
    private let farewell: Farewell

    init(_ bytes: [UInt8], then body: @escaping @Sendable () -> Void) {
        self.bytes = bytes
        farewell = Farewell(body)
    }

    struct AsyncIterator: AsyncBufferedIteratorProtocol {
        fileprivate var rest: LastBody?

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
