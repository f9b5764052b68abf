// The presenters of this process.

import Foundation
import Platform
import Synchronization

enum PresenterRegistry {
    /// Presenters are used in their own queues only; here their URL and queue are read, which Apple's Foundation also
    /// does on any thread. Weak, so that a presenter that is gone without a word keeps nobody waiting.
    private final class Registered: @unchecked Sendable {
        weak var presenter: (any NSFilePresenter)?
        let identity: ObjectIdentifier
        /// Guarded by the registry's mutex.
        var listener: Listener.Use?

        init(_ presenter: any NSFilePresenter) {
            self.presenter = presenter
            identity = ObjectIdentifier(presenter)
        }
    }

    private static let registered = Mutex<[Registered]>([])
    private static let process = Entropy.uuid()

    static func add(_ presenter: any NSFilePresenter) {
        let new = Registered(presenter)
        registered.withLock { $0.append(new) }
        refresh()
    }

    /// Removes one registration of a presenter, if there is one.
    static func remove(_ identity: ObjectIdentifier) {
        let removed = registered.withLock { registered -> Registered? in
            let index = registered.firstIndex { $0.identity == identity }
            return index.map { registered.remove(at: $0) }
        }
        // Its listener ends outside of the lock.
        _ = removed
        refresh()
    }

    static var presenters: [any NSFilePresenter] {
        registered.withLock { $0 }.compactMap(\.presenter)
    }

    /// The purpose of all coordinators that are made for a presenter: none of them asks it, or waits for another one.
    static func purpose(of presenter: any NSFilePresenter) -> String {
        "\(process).\(UInt(bitPattern: ObjectIdentifier(presenter)))"
    }

    /// Listens in the container of each presented item, and in no other: an item may have been moved, or come into
    /// being.
    static func refresh() {
        let current = registered.withLock { registered in
            registered.removeAll { $0.presenter == nil }
            return registered
        }
        for entry in current {
            let place = entry.presenter?.presentedItemURL.flatMap { try? CoordinationPlace.item(at: $0).place }
            let present = registered.withLock { _ in entry.listener }
            guard present?.place != place || present?.listener.isReachable == false else { continue }
            // Without a listener its process alone asks it; that is all that can be done in a container that is full.
            let listener = place.flatMap { try? Listener.use(in: $0, presenting: true) }
            let former = registered.withLock { _ in
                let former = entry.listener
                entry.listener = listener
                return former
            }
            _ = former
        }
    }

    /// The sessions of all presenters in a container that an access concerns.
    /// - Parameter known: presenters that have one already.
    static func sessions(
        for question: PresenterQuestion, in place: CoordinationPlace, but known: Set<ObjectIdentifier> = []
    ) -> [PresenterSession] {
        presenters.compactMap { presenter in
            guard purpose(of: presenter) != question.purpose, !known.contains(ObjectIdentifier(presenter)),
                let url = presenter.presentedItemURL, url.isFileURL,
                let item = try? CoordinationPlace.item(at: url), item.place == place
            else { return nil }
            return PresenterSession(presenter, of: item, asked: question)
        }
    }
}
