// The presenters of other processes during one access: each process is asked over a connection that stays open until the
// access is over. Where that ends early, because this process was killed, they take their items back.

import Foundation
import Glibc
import Platform
import SandboxModel

final class RemotePresenters: Sendable {
    private struct Asked {
        let connection: LineConnection
        /// One that has not answered once is asked no second time.
        let hasAnswered: Bool
    }

    private struct State {
        var names: Set<FileName> = []
        var waiting = 0
        var error: NSError?
        var asked: [Asked] = []
    }

    private let state = Monitor(State())

    /// Asks each process that presents items in the container but this one.
    init(_ question: PresenterQuestion, at listener: Listener) {
        askNew(question, at: listener)
    }

    /// Asks each process that was not asked yet.
    private func askNew(_ question: PresenterQuestion, at listener: Listener) {
        let limits = CoordinationLimits.current
        let meeting = listener.meeting
        let names = (try? meeting.names(endingWith: Listener.presenting)) ?? []
        for name in names where name.text != listener.identifier + Listener.presenting {
            let isNew = state.access { state in
                guard state.names.count < limits.connections, state.names.insert(name).inserted else { return false }
                state.waiting += 1
                return true
            }
            guard isNew else { continue }
            WorkQueue().start { [self] in
                let (asked, error) = RemotePresenters.ask(question, at: name, in: meeting, limits)
                state.access {
                    $0.waiting -= 1
                    $0.error = $0.error ?? error
                    if let asked { $0.asked.append(asked) }
                }
            }
        }
    }

    /// Asks one process. One that does not run gets the question when it runs again, and with it the news of the access.
    /// - Returns: no connection if the process has ended.
    private static func ask(
        _ question: PresenterQuestion, at name: FileName, in meeting: MeetingDirectory, _ limits: CoordinationLimits
    ) -> (Asked?, NSError?) {
        guard let connection = connected(to: name, in: meeting), (try? connection.send(question)) != nil else {
            return (nil, nil)
        }
        guard isGreeted(by: name, in: meeting, over: connection, within: limits.greeting),
            let answer = try? connection.receive(PresenterAnswer.self, until: .nanoseconds(in: limits.presenters))
        else { return (Asked(connection: connection, hasAnswered: false), nil) }
        return (Asked(connection: connection, hasAnswered: true), answer.error)
    }

    private static let silent = SilentListeners()

    /// Whether a process runs.
    static func runs(_ name: FileName, in meeting: MeetingDirectory) -> Bool {
        connected(to: name, in: meeting).map {
            isGreeted(by: name, in: meeting, over: $0, within: SilentListeners.moment)
        } ?? false
    }

    /// - Returns: nil if the process has ended, which removes its socket, or takes no further connection.
    private static func connected(to name: FileName, in meeting: MeetingDirectory) -> LineConnection? {
        do throws(SystemError) {
            return LineConnection(try meeting.connect(to: name))
        } catch {
            if error.code == ECONNREFUSED { try? meeting.directory.removeFile(name) }
            return nil
        }
    }

    private static func isGreeted(
        by name: FileName, in meeting: MeetingDirectory, over connection: LineConnection, within seconds: Double
    ) -> Bool {
        guard let directory = try? meeting.identity else { return false }
        let patience = silent.patience(for: name, in: directory, usually: seconds)
        let isGreeted = (try? connection.receive(Greeting.self, until: .nanoseconds(in: patience))) != nil
        silent.note(name, in: directory, hasAnswered: isGreeted)
        return isGreeted
    }

    /// - Returns: nil while somebody has not answered yet.
    func answer(until deadline: UInt64) -> AskedPresenters.Answer {
        state.wait(until: deadline) { $0.waiting == 0 || $0.error != nil ? .answered($0.error) : nil } ?? .late
    }

    /// The access has moved an item.
    func tell(_ move: ItemMove) {
        for one in state.access({ $0.asked }) { try? one.connection.send(PresenterNotice(move: move, kind: .made)) }
    }

    /// Other accesses have moved items.
    /// - Parameter question: if the access has another path now: presenters there are to get ready.
    func follow(_ moves: [ItemMove], asking question: PresenterQuestion?, at listener: Listener) {
        for one in state.access({ $0.asked }) {
            let asks = question != nil && one.hasAnswered
            for (index, move) in moves.enumerated() {
                let isLast = index == moves.count - 1
                try? one.connection.send(PresenterNotice(move: move, kind: asks && isLast ? .asking : .followed))
            }
            if asks { awaitAnswer(over: one.connection) }
        }
        if let question { askNew(question, at: listener) }
    }

    private func awaitAnswer(over connection: LineConnection) {
        let deadline = UInt64.nanoseconds(in: CoordinationLimits.current.presenters)
        state.access { $0.waiting += 1 }
        WorkQueue().start { [self] in
            let answer = try? connection.receive(PresenterAnswer.self, until: deadline)
            state.access {
                $0.waiting -= 1
                $0.error = $0.error ?? answer?.error
            }
        }
    }

    /// The connections close with the last reference.
    func end() {
        state.access { $0.asked = [] }
    }
}
