// The client of a running device: sends one request of the control API, and reads its response.

import FoundationEssentials

/// A running device, reached over its control socket. ``Device`` has a method for each request; this type sends them.
///
/// Every method throws a ``DeviceError``. Cancelling the task that waits for a long operation cancels the operation.
public struct DeviceClient: Sendable {
    /// The path of the control socket.
    public let socket: String
    /// The UUID of the device that each request names, so that no other device carries it out; nil for any.
    public let identifier: String?
    /// The path of a temporary device, whose process nobody starts again; nil for a lasting one.
    private let temporary: String?

    /// - Parameters:
    ///   - socket: the path of the control socket.
    ///   - identifier: as ``DeviceStatus/identifier`` has it.
    public init(socket: String, identifier: String? = nil) {
        self.init(socket: socket, identifier: identifier, temporary: nil)
    }

    init(socket: String, identifier: String?, temporary: String?) {
        self.socket = socket
        self.identifier = identifier
        self.temporary = temporary
    }

    /// Whether somebody listens at the socket.
    public func isAnswering() async -> Bool {
        do {
            _ = try await ControlConnection(to: socket, of: identifier)
            return true
        } catch {
            return false
        }
    }

    public func status() async throws(DeviceError) -> DeviceStatus {
        try await send(StatusRequest())
    }

    /// Unmounts everything and ends the daemon.
    public func shutdown() async throws(DeviceError) {
        _ = try await send(ShutdownRequest())
    }

    /// Purges the apps that are not running.
    ///
    /// A purge that frees too little is no error: see ``PurgeReport/isEnough``.
    public func purge(_ request: PurgeRequest = PurgeRequest()) async throws(DeviceError) -> PurgeReport {
        try await send(request)
    }

    /// The recorded events of the device, and then each event as it comes.
    public var events: DeviceEvents { DeviceEvents(client: self, since: nil) }

    /// The events since a time.
    /// - Parameter time: as ``Event/time`` has it.
    public func events(since time: String) -> DeviceEvents { DeviceEvents(client: self, since: time) }

    /// The places at which files change, from now on.
    public var changes: DeviceChanges { DeviceChanges(client: self) }

    /// Sends any request of the control API.
    ///
    /// - Parameters:
    ///   - request: one of the types that end in `Request`.
    ///   - progress: called with the progress of a long operation, up to ten times a second.
    public func send<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> Request.Reply {
        var connection = try await connect()
        return try await ask(request, over: &connection, progress: progress)
    }

    func connect() async throws(DeviceError) -> ControlConnection {
        do throws(DeviceError) {
            return try await ControlConnection(to: socket, of: identifier)
        } catch {
            guard let temporary, error.kind == .daemonUnreachable else { throw error }
            throw DeviceError(
                .daemonUnreachable,
                "the temporary device \(temporary) is gone: it was ended, or its process was killed; make another one")
        }
    }

    /// Sends a request over a new connection and reads the result. The response may stay open behind it.
    func ask<Request: ControlRequest>(
        _ request: Request, over connection: inout ControlConnection, progress: (@Sendable (WorkProgress) -> Void)?
    ) async throws(DeviceError) -> Request.Reply {
        let status = try await connection.send(
            method: Request.isQuery ? "GET" : "POST", path: ControlPath.root + Request.path,
            accept: progress == nil ? ControlMedia.json : ControlMedia.lines,
            body: Request.isQuery ? [] : try DeviceClient.encode(request))
        guard status == 200 else { throw try await DeviceClient.refusal(status, &connection) }
        guard let progress else {
            return try DeviceClient.decode(Request.Reply.self, from: try await connection.rest(), of: connection.server)
        }
        while let line = try await connection.line() {
            let news = try DeviceClient.decode(WorkLine<Request.Reply>.self, from: line, of: connection.server)
            if let complaint = news.complaint { throw complaint }
            if let step = news.progress { progress(step) }
            if let result = news.result { return result }
        }
        throw .ended
    }

    /// Follows the events, from the first one in the record, or the changes of files from now on.
    /// - Parameter path: of the query, below ``ControlPath/root``.
    func follow(_ path: String) async throws(DeviceError) -> ControlConnection {
        var connection = try await connect()
        let status = try await connection.send(
            method: "GET", path: ControlPath.root + path, accept: ControlMedia.lines, body: [])
        guard status == 200 else { throw try await DeviceClient.refusal(status, &connection) }
        return connection
    }

    // MARK: Responses

    /// The error of a response with a status other than 200.
    private static func refusal(
        _ status: Int, _ connection: inout ControlConnection
    ) async throws(DeviceError) -> DeviceError {
        let failure = try decode(Failure.self, from: try await connection.rest(), of: connection.server).complaint
        // A daemon of this version has every path that this client uses.
        if status == 404, failure.kind == .notFound, connection.server != DeviceClient.version {
            return otherVersion(connection.server)
        }
        return failure
    }

    /// The header `Server` of a daemon of this version.
    public static let version = "appcontainer/\(AppContainer.version)"

    private static func otherVersion(_ server: String?) -> DeviceError {
        DeviceError(
            .otherVersion,
            "the device is served by \(server ?? "something that does not tell its version"), and this is \(version): "
                + "shut the device down, and see that both are of one version")
    }

    private static func encode(_ request: some Encodable) throws(DeviceError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(request))
        } catch {
            throw DeviceError(.badRequest, "the request cannot be written as JSON: \(error)")
        }
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], of server: String?
    ) throws(DeviceError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            guard server == version else { throw otherVersion(server) }
            throw DeviceError(
                .unexpected,
                "the device answers what cannot be read, though it is of this version, \(version): \(error)")
        }
    }
}
