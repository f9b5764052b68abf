// The requests of one home's background tasks to its device.

import AppContainer
import Foundation
import Glibc
import Platform
import Synchronization

/// Requests go out one after the other, so that the end of a task never overtakes its beginning. Each home has a lane
/// of its own: a device that is slow delays no other one's tasks. One that does not answer has no effect on the
/// application.
final class TaskLane: Sendable {
    private enum Request: Sendable {
        case begin(Int, name: String, TaskAnswer)
        case end(Int)
    }

    /// A task as its device knows it.
    private struct Begun {
        let device: HomeDevice
        let task: UInt64
    }

    /// Seconds for which the beginning of a task waits for the device.
    static let longestWait = 1.0

    private let requests: AsyncStream<Request>.Continuation
    /// Beginnings that nobody waits for any more, and that the device has not answered.
    private let late = Atomic(0)

    /// - Parameter device: finds the device, for each task.
    init(to device: @escaping @Sendable () -> HomeDevice?) {
        let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
        requests = continuation
        // Not on the threads of tasks, nor on the main one: each of these may be waiting for an answer.
        Task.detached(executorPreference: WorkExecutor.shared) { await TaskLane.send(stream, to: device) }
    }

    /// Returns when the device knows of the task. Waits for ``longestWait`` at most, and not at all for a device that
    /// has kept an earlier one waiting and has not answered yet: the task begins then when the device is ready.
    func begin(_ number: Int, name: String) {
        let answer = TaskAnswer()
        requests.yield(.begin(number, name: name, answer))
        guard late.load(ordering: .relaxed) == 0, !answer.wait(until: .nanoseconds(in: TaskLane.longestWait)) else {
            return
        }
        late.add(1, ordering: .relaxed)
        answer.whenGiven { [self] in late.subtract(1, ordering: .relaxed) }
    }

    func end(_ number: Int) {
        requests.yield(.end(number))
    }

    private static func send(_ requests: AsyncStream<Request>, to device: @Sendable () -> HomeDevice?) async {
        var begun: [Int: Begun] = [:]
        for await request in requests {
            switch request {
            case .begin(let number, let name, let answer):
                begun[number] = await begin(name, on: device())
                answer.give()
            case .end(let number):
                guard let known = begun.removeValue(forKey: number) else { continue }
                let request = EndBackgroundTaskRequest(app: known.device.app, task: known.task)
                _ = try? await DeviceClient(socket: known.device.socket).send(request)
            }
        }
    }

    /// - Returns: nil for a device that does not answer.
    private static func begin(_ name: String, on device: HomeDevice?) async -> Begun? {
        guard let device else { return nil }
        let request = BeginBackgroundTaskRequest(
            app: device.app, pid: getpid(),
            name: String(decoding: name.utf8.filter { $0 != 0 }.prefix(250), as: UTF8.self))
        guard let reply = try? await DeviceClient(socket: device.socket).send(request) else { return nil }
        return Begun(device: device, task: reply.task)
    }
}

/// That a device has answered, or will not.
private final class TaskAnswer: Sendable {
    private struct State {
        var isGiven = false
        var body: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    func give() {
        let body = state.access { state in
            state.isGiven = true
            return state.body
        }
        body?()
    }

    /// - Returns: whether it was given by then.
    func wait(until deadline: UInt64) -> Bool { state.wait(until: deadline) { $0.isGiven ? true : nil } ?? false }

    /// Calls the body once, now or when it is given.
    func whenGiven(_ body: @escaping @Sendable () -> Void) {
        let isGiven = state.access { state in
            if !state.isGiven { state.body = body }
            return state.isGiven
        }
        if isGiven { body() }
    }
}
