// One presenter during one access: it gives up its item, hears of moves, and takes its item back.

import Foundation
import Platform
import Synchronization

/// The presenter is called in its queue only, one call after the other.
final class PresenterSession: @unchecked Sendable {
    private enum Step {
        case relinquishToReader, relinquishToWriter, save, accommodateDeletion
        case accommodateSubitemDeletion(URL)
    }

    /// An access that is told of at its end.
    private struct Written {
        var access: FileAccess
        let wasThere: Bool
    }

    private struct State {
        var path: String
        var written: [Written]
        var reacquirers: [@Sendable () -> Void] = []
    }

    private let presenter: any NSFilePresenter
    private let place: CoordinationPlace
    private let steps: [Step]
    private let state: Mutex<State>

    /// - Returns: nil if no access of the question concerns the presenter.
    init?(_ presenter: any NSFilePresenter, of item: CoordinationPlace.Item, asked question: PresenterQuestion) {
        var steps: [Step] = []
        var written: [Written] = []
        var isConcerned = false
        for access in question.accesses {
            let isOwn = access.path == item.path
            let isInside = FileAccess.contains(access.path, item.path) && (access.isOfWholeItem || question.isBatch)
            let isOutside = FileAccess.contains(item.path, access.path)
            guard isOwn || isInside || isOutside && access.kind == .write else { continue }
            isConcerned = true
            let isThere = PresenterSession.exists(access.path, item.place)
            if !question.isReady, isThere || !isOutside {
                steps += PresenterSession.steps(for: access, isOutside ? item.place.url(of: access.path) : nil)
            }
            if access.kind == .write, !question.isBatch { written.append(Written(access: access, wasThere: isThere)) }
        }
        guard isConcerned else { return nil }
        self.presenter = presenter
        place = item.place
        self.steps = steps
        state = Mutex(State(path: item.path, written: written))
    }

    /// - Parameter subitem: the URL of the item in the presented directory; nil if the presented item itself is
    ///   concerned.
    private static func steps(for access: FileAccess, _ subitem: URL?) -> [Step] {
        if let subitem { return access.deletes ? [.accommodateSubitemDeletion(subitem)] : [] }
        guard access.kind == .write else {
            return [.relinquishToReader] + (access.reading.contains(.withoutChanges) ? [] : [.save])
        }
        guard !access.writing.contains(.contentIndependentMetadataOnly) else { return [] }
        return [.relinquishToWriter] + (access.writing.contains(.forMerging) ? [.save] : [])
            + (access.deletes ? [.accommodateDeletion] : [])
    }

    private static func exists(_ path: String, _ place: CoordinationPlace) -> Bool {
        (try? HostPath.status(place.url(of: path).path, following: false)) != nil
    }

    // MARK: Before the access

    /// Has the presenter get ready.
    /// - Parameter answer: called once, with the error of a presenter that refuses.
    func begin(_ answer: @escaping @Sendable (NSError?) -> Void) {
        run(steps[...], answer)
    }

    private func run(_ steps: ArraySlice<Step>, _ answer: @escaping @Sendable (NSError?) -> Void) {
        guard let step = steps.first else { return answer(nil) }
        let next: @Sendable (NSError?) -> Void = { [self] error in
            if let error { answer(error) } else { run(steps.dropFirst(), answer) }
        }
        presenter.presentedItemOperationQueue.addOperation { [self] in take(step, next) }
    }

    private func take(_ step: Step, _ next: @escaping @Sendable (NSError?) -> Void) {
        // A presenter that calls its block twice is heard once.
        let once = Once(next)
        let relinquished: @Sendable ((@Sendable () -> Void)?) -> Void = { [self] reacquirer in
            if let reacquirer { state.withLock { $0.reacquirers.append(reacquirer) } }
            once.call(nil)
        }
        let finished: @Sendable ((any Error)?) -> Void = { error in
            once.call(error.map(PresenterSession.foundationError))
        }
        switch step {
        case .relinquishToReader: presenter.relinquishPresentedItem(toReader: relinquished)
        case .relinquishToWriter: presenter.relinquishPresentedItem(toWriter: relinquished)
        case .save: presenter.savePresentedItemChanges(completionHandler: finished)
        case .accommodateDeletion: presenter.accommodatePresentedItemDeletion(completionHandler: finished)
        case .accommodateSubitemDeletion(let url):
            presenter.accommodatePresentedSubitemDeletion(at: url, completionHandler: finished)
        }
    }

    /// Foundation on Linux does not bridge its own errors to their domains.
    private static func foundationError(_ error: any Error) -> NSError {
        if let error = error as? CocoaError { return NSError(domain: NSCocoaErrorDomain, code: error.errorCode) }
        return error as NSError
    }

    // MARK: During and after it

    var identity: ObjectIdentifier { ObjectIdentifier(presenter) }

    /// Another access has moved an item, and has told the presenter: from now on this one is about the new path.
    func follow(_ move: ItemMove) {
        state.withLock { state in
            for index in state.written.indices { _ = state.written[index].access.follow(move) }
            guard let to = move.to else { return }
            state.path = FileAccess.path(state.path, afterMoveOf: move.from, to: to) ?? state.path
        }
    }

    /// - Parameter newURL: where the item is now, if this process can tell.
    func tell(_ move: ItemMove, to newURL: URL?) {
        let call = state.withLock { state -> (@Sendable (any NSFilePresenter) -> Void)? in
            for index in state.written.indices {
                guard let to = move.to,
                    let path = FileAccess.path(state.written[index].access.path, afterMoveOf: move.from, to: to)
                else { continue }
                state.written[index].access.path = path
            }
            if FileAccess.contains(state.path, move.from) {
                guard let newURL else { return nil }
                // It is told of the move, and not of a new item as well.
                state.written.removeAll { $0.access.path == move.to }
                let oldURL = place.url(of: move.from)
                return { $0.presentedSubitem(at: oldURL, didMoveTo: newURL) }
            }
            guard let newURL, let rest = FileAccess.path(state.path, afterMoveOf: move.from, to: "") else { return nil }
            if let to = move.to {
                guard let path = FileAccess.path(state.path, afterMoveOf: move.from, to: to) else { return nil }
                state.path = path
            }
            let url = rest.isEmpty ? newURL : newURL.appending(path: String(rest.dropFirst()))
            return { $0.presentedItemDidMove(to: url) }
        }
        guard let call else { return }
        presenter.presentedItemOperationQueue.addOperation { [self] in call(presenter) }
    }

    /// The access is over: the presenter takes its item back, and is told of changes.
    /// - Parameter body: called when it has been told, which may be never.
    func end(then body: @escaping @Sendable () -> Void) {
        presenter.presentedItemOperationQueue.addOperation { [self] in
            let (path, written, reacquirers) = state.withLock { ($0.path, $0.written, $0.reacquirers) }
            for reacquirer in reacquirers { reacquirer() }
            for change in written { tell(change, to: path) }
            body()
        }
    }

    private func tell(_ change: Written, to path: String) {
        let access = change.access
        let isThere = PresenterSession.exists(access.path, place)
        if FileAccess.contains(path, access.path) {
            guard isThere, !access.writing.contains(.forMoving) else { return }
            let url = place.url(of: access.path)
            if change.wasThere {
                presenter.presentedSubitemDidChange(at: url)
            } else {
                presenter.presentedSubitemDidAppear(at: url)
            }
        } else if path == access.path || FileAccess.contains(access.path, path), PresenterSession.exists(path, place),
            !access.writing.contains(.forMoving)
        {
            presenter.presentedItemDidChange()
        }
    }
}

/// Passes on the first call, and no other.
private final class Once: Sendable {
    private let body: @Sendable (NSError?) -> Void
    private let isCalled = Mutex(false)

    init(_ body: @escaping @Sendable (NSError?) -> Void) {
        self.body = body
    }

    func call(_ error: NSError?) {
        let isFirst = isCalled.withLock { isCalled in
            defer { isCalled = true }
            return !isCalled
        }
        if isFirst { body(error) }
    }
}
