// The presenters of other processes during one access: each process is asked over a connection that stays open until the
// access is over. Where that ends early, because this process was killed, they take their items back.

import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization

final class RemotePresenters: Sendable {
    private struct State {
        var waiting = 0
        var error: NSError?
        var connections: [LineConnection] = []
    }

    private let state = Monitor(State())

    /// Asks each process that presents items in the container but this one.
    init(_ question: PresenterQuestion, at listener: Listener) {
        let limits = CoordinationLimits.current
        let meeting = listener.meeting
        let names = (try? meeting.names(endingWith: Listener.presenting)) ?? []
        for name in names.prefix(limits.connections) where name.text != listener.identifier + Listener.presenting {
            state.access { $0.waiting += 1 }
            WorkQueue().start { [self] in
                let (connection, error) = RemotePresenters.ask(question, at: name, in: meeting, limits)
                state.access {
                    $0.waiting -= 1
                    $0.error = $0.error ?? error
                    if let connection { $0.connections.append(connection) }
                }
            }
        }
    }

    /// Asks one process. One that does not run gets the question when it runs again, and with it the news of the access.
    /// - Returns: no connection if the process has ended.
    private static func ask(
        _ question: PresenterQuestion, at name: FileName, in meeting: MeetingDirectory, _ limits: CoordinationLimits
    ) -> (LineConnection?, NSError?) {
        guard let connection = connected(to: name, in: meeting), (try? connection.send(question)) != nil else {
            return (nil, nil)
        }
        guard isGreeted(by: name, over: connection, within: limits.greeting),
            let answer = try? connection.receive(PresenterAnswer.self, until: .nanoseconds(in: limits.presenters))
        else { return (connection, nil) }
        return (connection, answer.error)
    }

    /// Listeners that did not answer when they were asked last: each is waited for once, and then for a moment only.
    private static let silent = Mutex<Set<FileName>>([])

    /// Whether a process runs.
    static func runs(_ name: FileName, in meeting: MeetingDirectory) -> Bool {
        connected(to: name, in: meeting).map { isGreeted(by: name, over: $0, within: 0.25) } ?? false
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
        by name: FileName, over connection: LineConnection, within seconds: Double
    ) -> Bool {
        let patience = silent.withLock { $0.contains(name) } ? min(seconds, 0.25) : seconds
        let isGreeted = (try? connection.receive(Greeting.self, until: .nanoseconds(in: patience))) != nil
        silent.withLock { silent in
            _ = isGreeted ? silent.remove(name) : silent.insert(name).memberAfterInsert
        }
        return isGreeted
    }

    /// - Returns: nil while somebody has not answered yet.
    func answer(until deadline: UInt64) -> AskedPresenters.Answer {
        state.wait(until: deadline) { $0.waiting == 0 || $0.error != nil ? .answered($0.error) : nil } ?? .late
    }

    func tell(_ move: ItemMove) {
        for connection in state.access({ $0.connections }) { try? connection.send(move) }
    }

    /// The connections close with the last reference.
    func end() {
        state.access { $0.connections = [] }
    }
}
