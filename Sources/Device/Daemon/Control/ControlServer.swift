// The control socket: HTTP and JSON for the commands, and for a harness in any language.

import AppContainer
import FlyingFox
import FlyingSocks
import FoundationEssentials
import Glibc
public import Logging
import Platform
public import SandboxModel
import Synchronization

/// Serves the control API of one device on a Unix socket that only this user can connect to.
public final class ControlServer: Sendable {
    private let server: HTTPServer
    private let socket: String
    private let answers = Answers()
    private let departures = Departures()
    private let limits: ArrivalLimits
    private let log: Logger
    private let running = Mutex<[Task<Void, Never>]>([])

    /// - Parameters:
    ///   - socket: a path in a directory of mode 0700. What a killed daemon left there is removed.
    ///   - onShutdown: called when a client has asked for the end and the device has ended.
    public convenience init(
        socket: String, device: any ServedDevice, log: Logger, onShutdown: @escaping @Sendable () -> Void
    ) {
        self.init(socket: socket, device: device, log: log, limits: ArrivalLimits(), onShutdown: onShutdown)
    }

    init(
        socket: String, device: any ServedDevice, log: Logger, limits: ArrivalLimits,
        onShutdown: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        self.limits = limits
        self.log = log
        let handler = ControlHandler(device: device, log: log, answers: answers, departures: departures) {
            // First of all: whoever comes from now on finds no daemon, and waits for this one's end.
            ControlServer.remove(socket)
            device.shutdown()
            onShutdown()
        }
        // A request may take as long as it takes: progress and closed connections end what should end.
        let year: TimeInterval = 365 * 24 * 3600
        server = HTTPServer(
            config: .init(
                address: sockaddr_un.unix(path: ControlServer.inner(socket)), timeout: year,
                sharedRequestReplaySize: ControlPath.largestBody, logger: .disabled),
            handler: handler)
    }

    /// Begins to listen; returns when clients can connect.
    public func start() async throws(Complaint) {
        let inner = ControlServer.inner(socket)
        ControlServer.remove(socket)
        ControlServer.remove(inner)
        let serving = Task { [server, log] in
            while !Task.isCancelled {
                do {
                    try await server.run()
                } catch {
                    // For want of a descriptor it gives up for good; whoever was being answered asks again.
                    if Task.isCancelled { return }
                    log.warning("the control API begins anew: \(error)")
                    ControlServer.remove(inner)
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
        }
        do {
            try await server.waitUntilListening()
            try HostPath.changeMode(of: inner, to: S_IRUSR | S_IWUSR)
            let gate = try await ControlGate(
                at: socket, before: inner, answers: answers, departures: departures, limits: limits, log: log)
            running.withLock { $0 = [serving, Task { await gate.run() }] }
        } catch {
            serving.cancel()
            await server.stop()
            ControlServer.remove(inner)
            throw Complaint(.unexpected, "cannot listen on \(socket): \(error)")
        }
    }

    /// Takes the socket away, so that nobody new connects; who is connected is served on.
    public func close() {
        ControlServer.remove(socket)
    }

    /// Where the HTTP server listens, behind the gate.
    static func inner(_ socket: String) -> String {
        socket + ".http"
    }

    private static func remove(_ socket: String) {
        try? HostPath.removeFile(socket)
    }

    /// Waits until the answers that are under way have gone out, for a second at most.
    public func drain() async {
        await answers.drain()
        ControlServer.remove(ControlServer.inner(socket))
    }

    /// Ends the server and what it is answering.
    public func stop() async {
        for task in running.withLock({ $0 }) { task.cancel() }
        await server.stop()
        ControlServer.remove(ControlServer.inner(socket))
    }
}
