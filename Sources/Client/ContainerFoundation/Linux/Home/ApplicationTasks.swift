// The background tasks of this process, and their requests to the devices.

import AppContainer
import Foundation
import Glibc
import Synchronization

/// Requests go out one after the other, so that the end of a task never overtakes its beginning. A device that does not
/// answer has no effect on the application.
enum ApplicationTasks {
    typealias Handler = @MainActor @Sendable () -> Void

    private struct Entry {
        let home: String?
        let handler: Handler?
    }

    private struct State {
        var last = 0
        /// The tasks that have not ended, by identifier.
        var entries: [Int: Entry] = [:]
    }

    private enum Request: Sendable {
        case begin(Int, name: String, home: String)
        case end(Int)
    }

    private static let state = Mutex(State())

    /// Takes requests, and sends them as long as the process lives.
    private static let requests: AsyncStream<Request>.Continuation = {
        let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
        Task.detached { await send(stream) }
        return continuation
    }()

    static func begin(_ name: String, of application: UIApplication, _ handler: Handler?) -> UIBackgroundTaskIdentifier
    {
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(home: application.home, handler: handler)
            return state.last
        }
        if let home = application.home { requests.yield(.begin(number, name: name, home: home)) }
        return UIBackgroundTaskIdentifier(rawValue: number)
    }

    static func end(_ task: UIBackgroundTaskIdentifier) {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: task.rawValue) }), entry.home != nil else {
            return
        }
        requests.yield(.end(task.rawValue))
    }

    /// Calls the handlers of the tasks that have not ended, in the order in which they were begun.
    @MainActor static func expire(of application: UIApplication) {
        let expired = state.withLock { state in
            state.entries.filter { $0.value.home == application.home }.sorted { $0.key < $1.key }
        }
        for (number, entry) in expired {
            // One handler may have ended the task of another.
            guard state.withLock({ $0.entries[number] != nil }) else { continue }
            ContainerHome.$current.withValue(application.home) { entry.handler?() }
        }
    }

    // MARK: Requests

    /// A task as its device knows it.
    private struct Begun {
        let device: HomeDevice
        let task: UInt64
    }

    private static func send(_ requests: AsyncStream<Request>) async {
        var begun: [Int: Begun] = [:]
        for await request in requests {
            switch request {
            case .begin(let number, let name, let home):
                guard let device = HomeDevice(of: home) else { continue }
                let request = BeginBackgroundTaskRequest(
                    app: device.app, pid: getpid(),
                    name: String(decoding: name.utf8.filter { $0 != 0 }.prefix(250), as: UTF8.self))
                guard let task = try? await DeviceClient(socket: device.socket).send(request) else { continue }
                begun[number] = Begun(device: device, task: task.task)
            case .end(let number):
                guard let known = begun.removeValue(forKey: number) else { continue }
                let request = EndBackgroundTaskRequest(app: known.device.app, task: known.task)
                _ = try? await DeviceClient(socket: known.device.socket).send(request)
            }
        }
    }
}
