// The presenters of other processes during one access: each process is asked over a connection that stays open until
// the access is over. Where that ends early, because this process was killed, they take their items back.

import Foundation
import Glibc
import Platform
import SandboxModel

final class RemotePresenters: Sendable {
    private struct Asked {
        let connection: LineConnection
        /// One that has not answered once is asked no further time.
        var hasAnswered: Bool
    }

    private struct State {
        var names: Set<FileName> = []
        var waiting = 0
        var error: NSError?
        var asked: [FileName: Asked] = [:]
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
                guard let connection = RemotePresenters.connected(to: name, in: meeting),
                    (try? connection.send(question)) != nil
                else { return state.access { $0.waiting -= 1 } }
                awaitAnswer(of: name, over: connection, in: meeting, limits)
            }
        }
    }

    /// Waits for a process that was asked. One that does not run gets the question when it runs again, and with it the
    /// news of the access.
    private func awaitAnswer(
        of name: FileName, over connection: LineConnection, in meeting: MeetingDirectory, _ limits: CoordinationLimits
    ) {
        var answer: PresenterAnswer?
        if RemotePresenters.isGreeted(by: name, in: meeting, over: connection, within: limits.greeting) {
            answer = try? connection.receive(PresenterAnswer.self, until: .nanoseconds(in: limits.presenters))
        }
        state.access {
            $0.waiting -= 1
            $0.error = $0.error ?? answer?.error
            $0.asked[name] = Asked(connection: connection, hasAnswered: answer != nil)
        }
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
        for one in state.access({ $0.asked }).values {
            try? one.connection.send(PresenterNotice(move: move, kind: .made))
        }
    }

    /// Other accesses have moved items.
    /// - Parameter question: if the access has another path now: presenters there are to get ready.
    func follow(_ moves: [ItemMove], asking question: PresenterQuestion?, at listener: Listener) {
        let (limits, meeting) = (CoordinationLimits.current, listener.meeting)
        for (name, one) in state.access({ $0.asked }) {
            let asks = question != nil && one.hasAnswered
            let notices = moves.enumerated().map { index, move in
                PresenterNotice(move: move, kind: asks && index == moves.count - 1 ? .asking : .followed)
            }
            // One that takes no further line has ended, or is not going to answer.
            guard (try? notices.forEach(one.connection.send)) != nil, asks else { continue }
            state.access { $0.waiting += 1 }
            WorkQueue().start { [self] in awaitAnswer(of: name, over: one.connection, in: meeting, limits) }
        }
        if let question { askNew(question, at: listener) }
    }

    /// The connections close with the last reference.
    func end() {
        state.access { $0.asked = [:] }
    }
}
