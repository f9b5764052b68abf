// Request, response and responder: the interface between this server and its user.

/// A whole request.
public struct HTTPRequest: Sendable {
    public let method: String
    /// The path of the request's target, without its query.
    public let path: String
    /// The part of the target behind the first `?`; empty when there is none.
    public let query: String
    /// The headers in their order, with their names in lower case.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]
    /// Reports when the client has gone.
    public let client: ClientDisconnect

    public init(
        method: String, path: String, query: String = "", headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], client: ClientDisconnect
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.client = client
    }

    /// The values of a header, one for each time that it is there.
    /// - Parameter name: in lower case.
    public func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The header `Accept`; empty when there is none.
    public var accept: String { values(of: "accept").joined(separator: ", ") }

    /// The header `Device`; nil when there is none.
    public var device: String? { values(of: "device").first }
}

/// A response. Each connection carries one, and is closed behind it.
public struct HTTPResponse: Sendable {
    /// The body, and how its length is announced.
    public enum Body: Sendable {
        /// Sent with its length.
        case whole([UInt8])
        /// Sent in chunks as they come, each when the client has taken the one before.
        case stream(any AsyncSequence<[UInt8], Never> & Sendable)
        /// Not sent: the head alone, with the length that the body has, where that is known.
        case omitted(length: Int?)
    }

    /// The status code, such as 200.
    public let status: Int
    /// Without those about length and connection, which the server adds.
    public let headers: [(name: String, value: String)]
    public let body: Body

    public init(status: Int, headers: [(name: String, value: String)], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The response to HEAD where this is the one to GET. A stream ends without a piece of it taken.
    public var headAlone: HTTPResponse {
        let length: Int? = if case .whole(let bytes) = body { bytes.count } else { nil }
        return HTTPResponse(status: status, headers: headers, body: .omitted(length: length))
    }
}

/// The client of a connection.
public enum HTTPPeer: Sendable, Equatable {
    /// A process of the user with this uid, connected to a Unix socket (SO_PEERCRED in unix(7)), or to a port of this
    /// machine (``Platform/LoopbackPeer``).
    case user(UInt32)
    /// A process connected to a port, from another address than 127.0.0.1, or whose user the kernel does not tell.
    case unknown
}

/// The reason why a request never reached the responder.
public enum RequestFault: Error, Equatable {
    /// Not a request of HTTP/1.
    case malformed
    /// The connection ended in the middle of the request.
    case endedEarly
    /// More than so many bytes of request line and headers.
    case headTooLong(Int)
    /// More than so many bytes of body.
    case bodyTooLong(Int)
    /// The request was not complete in time, or gave way to newer ones.
    case timedOut
}

/// Answers requests. All calls may come from any thread, at the same time. The two that return at once run on the event
/// loop and must not block.
public protocol HTTPResponder: Sendable {
    /// Decides on a client before its request is read.
    /// - Returns: the response to a client that may not connect; nil for one that may.
    func refusal(of peer: HTTPPeer) -> HTTPResponse?
    /// Answers a request. Must not block its thread; its task is cancelled when the client goes.
    func response(to request: HTTPRequest) async -> HTTPResponse
    /// The response to a request that cannot be read.
    func response(to fault: RequestFault) -> HTTPResponse
}
