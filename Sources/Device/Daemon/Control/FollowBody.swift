// The body of an answer that follows the events: newline-delimited JSON until the client goes or the device ends.

import FlyingSocks

/// The lines for one follower, who is forgotten when nobody holds this any more.
struct FollowBody: AsyncBufferedSequence {
    typealias Element = UInt8
    private let subscription: EventSubscription
    private var answer: Answers.Answer?

    init(_ subscription: EventSubscription) {
        self.subscription = subscription
    }

    /// The same body, which keeps its answer until it has gone out.
    func owed(_ answer: Answers.Answer) -> FollowBody {
        var body = self
        body.answer = answer
        return body
    }

    struct AsyncIterator: AsyncBufferedIteratorProtocol {
        fileprivate let body: FollowBody

        /// FlyingFox reads bodies in pieces only.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            await body.subscription.follower.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }
}

/// A follower, for as long as somebody holds this.
public final class EventSubscription: Sendable {
    let follower: EventFollower
    private let ended: @Sendable (EventFollower) -> Void

    init(_ follower: EventFollower, ended: @escaping @Sendable (EventFollower) -> Void) {
        self.follower = follower
        self.ended = ended
    }

    deinit {
        ended(follower)
    }
}
