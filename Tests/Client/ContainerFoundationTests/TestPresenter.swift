// A presenter that writes down what it is asked and told.

import ContainerFoundation
import Platform
import Synchronization

final class TestPresenter: NSObject, NSFilePresenter, @unchecked Sendable {
    private struct State {
        var url: URL?
        var words: [String] = []
        var failure: CocoaError.Code?
        var isMute = false
    }

    private let state: Monitor<State>
    private let onSave: @Sendable (TestPresenter) -> Void
    let presentedItemOperationQueue = OperationQueue()

    init(_ url: URL, onSave: @escaping @Sendable (TestPresenter) -> Void = { _ in }) {
        state = Monitor(State(url: url))
        self.onSave = onSave
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        super.init()
        NSFileCoordinator.addFilePresenter(self)
    }

    deinit { NSFileCoordinator.removeFilePresenter(self) }

    var presentedItemURL: URL? { state.access { $0.url } }

    /// With an error it refuses to save, and to have its item deleted.
    func fail(with code: CocoaError.Code) { state.access { $0.failure = code } }

    /// From now on it answers nothing.
    func becomeMute() { state.access { $0.isMute = true } }

    /// The words so far, once all calls have come.
    var words: [String] {
        presentedItemOperationQueue.waitUntilAllOperationsAreFinished()
        return state.access { $0.words }
    }

    func note(_ word: String) { state.access { $0.words.append(word) } }

    private func answer(_ word: String, _ body: (CocoaError?) -> Void) {
        note(word)
        let (isMute, failure) = state.access { ($0.isMute, $0.failure) }
        if !isMute { body(failure.map { CocoaError($0) }) }
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        answer("to reader") { _ in reader { self.note("back") } }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        answer("to writer") { _ in writer { self.note("back") } }
    }

    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        onSave(self)
        answer("save") { completionHandler($0) }
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        answer("delete") { completionHandler($0) }
    }

    func presentedItemDidMove(to newURL: URL) {
        state.access { $0.url = newURL }
        note("moved to \(newURL.lastPathComponent)")
    }

    func presentedItemDidChange() { note("changed") }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        answer("delete \(url.lastPathComponent)") { completionHandler($0) }
    }

    func presentedSubitemDidAppear(at url: URL) { note("\(url.lastPathComponent) appeared") }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        note("\(oldURL.lastPathComponent) moved to \(newURL.lastPathComponent)")
    }

    func presentedSubitemDidChange(at url: URL) { note("\(url.lastPathComponent) changed") }
}
