// The control API of one device, on its Unix socket.

import AppContainer
import ControlServer
import FoundationEssentials
import Glibc
import Logging
import Platform
import SandboxModel

/// Serves the control API of one device on a Unix socket that only this user can connect to.
final class ControlAPI: Sendable {
    private let server: HTTPServer
    private let socket: String

    /// - Parameters:
    ///   - socket: a path in a directory of mode 0700. A socket that a killed daemon left there is removed.
    ///   - limits: of requests that are incomplete.
    ///   - onShutdown: called after a client's request has ended the device.
    init(
        socket: String, device: some ServedDevice, log: Logger, limits: ConnectionLimits = ControlAPI.limits,
        onShutdown: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        let responder = ControlResponder(device: device, log: log) {
            // Before all else: a client that comes from now on finds no daemon, and waits for the end of this one.
            ControlAPI.remove(socket)
            device.shutdown()
            onShutdown()
        }
        server = HTTPServer(responder: responder, limits: limits) { log.warning("\($0)") }
    }

    /// The default limits, with the largest body of the API.
    static let limits = ConnectionLimits(body: ControlPath.largestBody)

    /// Begins to listen; clients can connect when it returns.
    /// - Throws: ``Complaint`` of kind `unexpected` when the socket cannot be made.
    func start() async throws(Complaint) {
        ControlAPI.remove(socket)
        do {
            try await server.start(at: .unix(path: socket))
        } catch {
            let reason = (error as? SystemError)?.message ?? "\(error)"
            throw Complaint(.unexpected, "cannot listen on \(socket): \(reason)")
        }
    }

    /// Removes the socket, so that no new client connects. Connected clients are still served.
    func close() {
        ControlAPI.remove(socket)
    }

    /// A missing socket is no error.
    static func remove(_ socket: String) {
        ActingUser.asSuperuser { try? HostPath.removeFile(socket) }
    }

    /// Waits until the responses under way have gone out, for a second at most.
    func drain() async {
        await server.drain()
    }

    /// Closes every connection.
    func stop() async {
        await server.stop()
    }
}
