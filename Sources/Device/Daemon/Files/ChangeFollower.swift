// A follower of changes of files: each place once, however often it changes, some times a second.

import AppContainer
import Platform
import SandboxModel

/// The places that changed since its reader took them last. The last reference to it ends the following.
final class ChangeFollower: Sendable {
    private struct State {
        /// By the bytes of the place: as text, two spellings of a name are one.
        var changes: [[UInt8]: FileChange] = [:]
        var isOver = false
    }

    /// The most places of one reading; with more, anything may have changed.
    static let most = 1000
    /// Changes are gathered for so long: a file that is written to at length is told a few times a second.
    private static let pause = Duration.milliseconds(250)

    private let state = AwaitedState(State())
    private let ended: @Sendable () -> Void

    /// - Parameter ended: called when nobody follows any more.
    init(ended: @escaping @Sendable () -> Void) {
        self.ended = ended
    }

    deinit {
        ended()
    }

    /// Adds a place. Returns at once.
    /// - Parameter place: the `place` of the change, made once for all followers.
    func add(_ change: FileChange, at place: [UInt8]) {
        state.change { state in
            guard state.changes[[]] == nil, state.changes[place] == nil else { return }
            guard !place.isEmpty, state.changes.count < ChangeFollower.most else {
                state.changes = [[]: FileChange(app: nil, path: nil)]
                return
            }
            state.changes[place] = change
        }
    }

    /// Ends the changes; the reader still gets those that wait.
    func end() { state.change { $0.isOver = true } }

    /// The places that changed, as lines of JSON; waits for the first.
    /// - Returns: nil when none will come any more, or the task was cancelled.
    func next() async -> [UInt8]? {
        let isOver = await state.next { state in state.isOver || !state.changes.isEmpty ? state.isOver : nil }
        guard let isOver else { return nil }
        if !isOver { try? await Task.sleep(for: ChangeFollower.pause) }
        let changes = await state.next { state in
            defer { state.changes = [:] }
            return Array(state.changes.values)
        }
        guard let changes, !changes.isEmpty else { return nil }
        return changes.flatMap { ControlJSON.line($0) }
    }
}

extension FileChange {
    /// The bytes that tell two changes apart; none where anything may have changed.
    var place: [UInt8] {
        guard let app else { return [] }
        return [app, path.map { "\0" + $0 } ?? "", pathBytes ?? ""].flatMap { Array($0.utf8) + [0] }
    }
}

/// The body of the response: the follower's lines.
struct ChangeLines: AsyncSequence, Sendable {
    let follower: ChangeFollower

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let follower: ChangeFollower

        mutating func next() async -> [UInt8]? { await follower.next() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follower: follower) }
}
