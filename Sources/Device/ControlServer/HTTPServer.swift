// A server of HTTP/1.1 on a Unix socket, or on a port of this machine. It knows no path and no meaning of a request.

import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
import SandboxModel

/// Listens, and passes each request to a responder.
///
/// One event loop, on a thread of its own, serves the connections of all servers and owns their state, so there is no
/// lock. A response that waits is a task and holds no thread.
public final class HTTPServer: Sendable {
    /// The address of the listening socket.
    public enum Address: Sendable, Equatable {
        /// A Unix socket with mode 0600, made at this path, where nothing is yet.
        case unix(path: String)
        /// A port of 127.0.0.1; 0 for one that the kernel chooses.
        case loopback(port: Int)
    }

    /// One for all servers of the process. Never shut down: a response may still come after its server has stopped.
    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    private let inFlight = InFlightResponses()
    /// Only the event loop may open the box.
    private let connections: NIOLoopBoundBox<ServerConnections>

    /// - Parameter warn: takes one line for the log.
    public init(
        responder: any HTTPResponder, limits: ConnectionLimits, warn: @escaping @Sendable (String) -> Void
    ) {
        let loop = HTTPServer.loop
        let shared = ServerConnections(responder: responder, limits: limits, inFlight: inFlight, warn: warn)
        connections = .makeBoxSendingValue(shared, eventLoop: loop)
    }

    /// Begins to listen. Clients can connect when it returns.
    /// - Returns: the address, with the port that the kernel chose.
    /// - Throws: the error of `socket(2)`, `bind(2)` or `listen(2)`.
    @discardableResult
    public func start(at address: Address) async throws -> Address {
        let bootstrap = bootstrap()
        switch address {
        case .unix(let path):
            let listener = try Descriptor.listening(atSocket: path, permissions: 0o600)
            let same = try listener.duplicate()
            try await keep(bootstrap.withBoundSocket(listener.release()).get())
            // NIO has called listen(2) too, and the kernel tells clients whose the last call was.
            try same.listen()
            return address
        case .loopback(let port):
            // Connections of an earlier run wait for a minute after their end, and would keep the port.
            let listener = try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: "127.0.0.1", port: port).get()
            try await keep(listener)
            return .loopback(port: listener.localAddress?.port ?? port)
        }
    }

    /// Hands the listener to the event loop, which closes it.
    private func keep(_ listener: any Channel) async throws {
        try await HTTPServer.loop.submit { [connections] in connections.value.listener = listener }.get()
    }

    /// The errno of an error that ``start(at:)`` has thrown; 0 where it has none.
    public static func code(of error: any Error) -> Int32 {
        (error as? SystemError)?.code ?? (error as? IOError)?.errnoCode ?? 0
    }

    /// Waits until the responses under way have gone out, for a second at most. Connections are accepted meanwhile.
    public func drain() async {
        await inFlight.drain(for: .seconds(1))
    }

    /// Closes the listener and every connection. The file of a Unix socket stays.
    public func stop() async {
        try? await HTTPServer.loop.submit { [connections] in connections.value.closeAll() }.get()
    }

    // MARK: Connections

    /// The channels of the listener and of each connection.
    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: HTTPServer.loop)
            .serverChannelInitializer { [connections] channel in
                channel.eventLoop.makeCompletedFuture {
                    let connections = connections.value
                    // Runs before NIO's own AcceptBackoffHandler, which would accept nothing for a second.
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { error in
                            connections.relieve(because: SystemError(code: error.errnoCode).message)
                            // The pause before the next accept(2), in which the connection that gives way is closed.
                            return .milliseconds(10)
                        })
                }
            }
            // A client may close its half after its request.
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [connections] channel in
                HTTPServer.peer(of: channel).flatMapThrowing { peer in
                    try HTTPServer.serve(channel, from: peer, connections.value)
                }
            }
    }

    /// The handlers of one connection: parser and encoder of NIO, and ``ConnectionHandler``.
    private static func serve(_ channel: any Channel, from peer: HTTPPeer?, _ connections: ServerConnections) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = connections.limits.head
        limits.maxHeaderListSize = connections.limits.head
        let handler = ConnectionHandler(connections)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)))
        try pipeline.addHandler(handler)
        if let peer, let refusal = connections.responder.refusal(of: peer) { handler.refuse(refusal) }
    }

    /// The user of the process at the other end.
    private static func peer(of channel: any Channel) -> EventLoopFuture<HTTPPeer?> {
        guard let socket = channel as? any SocketOptionProvider else {
            // Not reached: the channels of NIOPosix have socket options.
            return channel.eventLoop.makeSucceededFuture(.unknown)
        }
        guard let address = channel.localAddress, case .unixDomainSocket = address else {
            let peer = peerOnPort(of: channel)
            // Asked after that: the addresses of a connection that was reset may already be another one's.
            return socket.unsafeGetSocketOption(level: .tcp, name: .connectionInformation)
                .map { (state: UInt8) in connected.contains(state) ? peer : .unknown }
                .flatMapErrorThrowing { _ in .unknown }
        }
        return socket.unsafeGetSocketOption(level: .socket, name: .peerCredentials)
            .map { (credentials: PeerCredentials) in HTTPPeer.user(credentials.user) }
    }
}

extension HTTPServer {
    /// Whether nobody has the socket any more that is connected to a port. Of a Unix socket the kernel tells by itself.
    static func isPeerGone(_ channel: any Channel) -> Bool {
        guard let address = channel.localAddress, address.port != nil else { return false }
        return peerOnPort(of: channel) == .unknown
    }

    /// TCP_ESTABLISHED, and TCP_CLOSE_WAIT of a client that has closed its half.
    private static let connected: Set<UInt8> = [1, 8]

    /// The user of the process that is connected to a port. Every address from 127.0.0.0 on is this machine's, and any
    /// process may connect from one: only 127.0.0.1 is asked about.
    private static func peerOnPort(of channel: any Channel) -> HTTPPeer {
        guard let client = channel.remoteAddress, client.ipAddress == "127.0.0.1", let port = client.port,
            let server = channel.localAddress?.port,
            let user = LoopbackPeer.user(atPort: UInt16(port), connectedTo: UInt16(server))
        else { return .unknown }
        return .user(user)
    }
}

/// `struct ucred` of unix(7), which Glibc's module does not have.
private struct PeerCredentials: Sendable {
    var process: Int32
    var user: UInt32
    var group: UInt32
}

extension NIOBSDSocket.Option {
    fileprivate static let peerCredentials = NIOBSDSocket.Option(rawValue: SO_PEERCRED)
    /// Its first byte is the state of the connection.
    fileprivate static let connectionInformation = NIOBSDSocket.Option(rawValue: TCP_INFO)
}
