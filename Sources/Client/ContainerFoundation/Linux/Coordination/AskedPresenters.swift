// The presenters of this process during one access.

import Foundation
import Platform

/// The sessions of several presenters during one access.
final class AskedPresenters: Sendable {
    private struct State {
        var sessions: [PresenterSession] = []
        var waiting = 0
        var error: NSError?
    }

    enum Answer {
        case answered(NSError?)
        case late
    }

    private let state = Monitor(State())

    /// Has all of them get ready.
    init(_ sessions: [PresenterSession]) {
        ask(sessions)
    }

    /// Has further ones get ready.
    func ask(_ sessions: [PresenterSession]) {
        state.access {
            $0.sessions += sessions
            $0.waiting += sessions.count
        }
        let state = state
        for session in sessions {
            session.begin { error in
                state.access {
                    $0.waiting -= 1
                    $0.error = $0.error ?? error
                }
            }
        }
    }

    /// Those that are asked already.
    var presenters: Set<ObjectIdentifier> { Set(state.access { $0.sessions }.map(\.identity)) }

    func wait(until deadline: UInt64) -> Answer {
        state.wait(until: deadline) { $0.waiting == 0 || $0.error != nil ? .answered($0.error) : nil } ?? .late
    }

    /// The access has moved an item.
    func tell(_ move: ItemMove, to newURL: URL?) {
        for session in state.access({ $0.sessions }) { session.tell(move, to: newURL) }
    }

    /// Another access has moved an item.
    func follow(_ move: ItemMove) {
        for session in state.access({ $0.sessions }) { session.follow(move) }
    }

    /// - Parameter body: called when all have been told, which may be never.
    func end(then body: @escaping @Sendable () -> Void = {}) {
        let sessions = state.access { $0.sessions }
        guard !sessions.isEmpty else { return body() }
        let left = Monitor(sessions.count)
        for session in sessions {
            session.end {
                let isLast = left.access { left in
                    left -= 1
                    return left == 0
                }
                if isLast { body() }
            }
        }
    }
}
