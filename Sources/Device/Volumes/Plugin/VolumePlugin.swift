// The server of the volume plugin protocol, on a Unix socket.

import ControlServer
import Glibc
import Platform
public import SandboxModel

/// Serves volumes to the container engines of this user, and of root.
public final class VolumePlugin: Sendable {
    private let server: HTTPServer
    private let socket: String

    /// - Parameters:
    ///   - socket: the path at which engines look for the plugin.
    ///   - warn: takes one line for the log.
    public init(_ store: VolumeStore, socket: String, warn: @escaping @Sendable (String) -> Void) {
        self.socket = socket
        server = HTTPServer(
            responder: PluginResponder(store: store, warn: warn), limits: ConnectionLimits(body: 1 << 20), warn: warn)
    }

    /// Begins to listen. A socket that nobody listens at any more is replaced.
    /// - Throws: ``Complaint`` of kind `inUse`, or with the host's error.
    public func start() async throws(Complaint) {
        try VolumeStore.clear(socket)
        do {
            try await server.start(at: .unix(path: socket))
        } catch {
            let reason = SystemError(code: HTTPServer.code(of: error))
            throw Complaint(named: reason, doing: "cannot listen at \(socket)")
        }
    }

    /// Ends the server. Devices, mounts and volumes stay as they are.
    public func stop() async {
        try? HostPath.removeFile(socket)
        await server.drain()
        await server.stop()
    }
}
