// A client that follows the events: newline-delimited JSON until the client goes or the device ends.

/// A follower, for as long as somebody holds this.
final class EventSubscription: Sendable {
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

/// The lines for one follower, who is forgotten when nobody holds this any more.
struct EventLines: AsyncSequence, Sendable {
    let subscription: EventSubscription

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: EventSubscription

        mutating func next() async -> [UInt8]? {
            await subscription.follower.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }
}
