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
    ///   - onShutdown: called when a client has asked for the end and the device has ended.
    init(
        socket: String, device: some ServedDevice, log: Logger, limits: ConnectionLimits = ControlAPI.limits,
        onShutdown: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        let responder = ControlResponder(device: device, log: log) {
            // First of all: a client that comes from now on finds no daemon, and waits for this one's end.
            ControlAPI.remove(socket)
            device.shutdown()
            onShutdown()
        }
        server = HTTPServer(responder: responder, limits: limits) { log.warning("\($0)") }
    }

    static let limits = ConnectionLimits(body: ControlPath.largestBody)

    /// Begins to listen; clients can connect when it returns.
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

    private static func remove(_ socket: String) {
        try? HostPath.removeFile(socket)
    }

    /// Waits until the responses that are owed have gone out, for a second at most.
    func drain() async {
        await server.drain()
    }

    /// Closes every connection.
    func stop() async {
        await server.stop()
    }
}
