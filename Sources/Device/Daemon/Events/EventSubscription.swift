// The subscription of one client to the events: newline-delimited JSON until the client goes or the device ends.

/// Keeps a follower registered. The last reference to it ends the subscription.
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

/// The body of the response: the follower's lines. It holds the subscription.
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
