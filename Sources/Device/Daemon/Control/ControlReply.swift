// What a request is answered with, before it is HTTP.

import AppContainer
import FlyingFox
import FoundationEssentials
import SandboxModel

struct ControlReply: Sendable {
    private enum Body: Sendable {
        case bytes([UInt8])
        case work(WorkBody)
        case events(FollowBody)
    }

    private var status = 200
    private var type = ControlMedia.json
    private let body: Body
    /// Methods that the path has, where the request had another.
    private var allow: String?

    /// - Parameter lines: the client asked for lines, of which this is the only one.
    static func success(_ value: some Encodable & Sendable, lines: Bool = false) -> ControlReply {
        lines
            ? ControlReply(type: ControlMedia.lines, body: .bytes(ControlJSON.line(ResultLine(result: value))))
            : ControlReply(body: .bytes(ControlJSON.line(value)))
    }

    /// Lines that follow work under way.
    static func work(_ body: WorkBody) -> ControlReply {
        ControlReply(type: ControlMedia.lines, body: .work(body))
    }

    /// Events, one a line, as they come.
    static func events(_ subscription: EventSubscription) -> ControlReply {
        ControlReply(type: ControlMedia.lines, body: .events(FollowBody(subscription)))
    }

    static func failure(_ complaint: Complaint, status: Int? = nil, allow: String? = nil) -> ControlReply {
        ControlReply(
            status: status ?? complaint.kind.status,
            body: .bytes(ControlJSON.line(AppContainer.Failure(DeviceError(complaint)))), allow: allow)
    }

    /// For a request whose body is larger than any command sends.
    static var tooLarge: ControlReply {
        failure(Complaint(.badRequest, "the request is larger than \(ControlPath.largestBody) bytes"), status: 413)
    }

    /// For a request that did not arrive while there was time and room for it.
    static var tooLate: ControlReply {
        failure(Complaint(.badRequest, "the request did not arrive in time"), status: 408)
    }

    /// - Parameter answer: kept until the answer has gone out.
    func response(_ answer: Answers.Answer) -> HTTPResponse {
        // A connection carries one request. A client that would keep it for the next has to be told.
        var headers: HTTPHeaders = [
            .contentType: type, HTTPHeader("Server"): DeviceClient.version, .connection: "close",
        ]
        if let allow { headers[HTTPHeader("Allow")] = allow }
        let sequence =
            switch body {
            case .bytes(let bytes):
                HTTPBodySequence(
                    from: AnswerBody(bytes, answer), count: bytes.count, suggestedBufferSize: bytes.count)
            case .work(let work): HTTPBodySequence(from: work.owed(answer))
            case .events(let events): HTTPBodySequence(from: events.owed(answer))
            }
        return HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: ControlReply.phrase(status)), headers: headers, body: sequence)
    }

    /// The whole answer, for where no server writes it. Only for what is in ``failure(_:status:allow:)``.
    var bytes: [UInt8] {
        guard case .bytes(let body) = body else { return [] }
        let head =
            "HTTP/1.1 \(status) \(ControlReply.phrase(status))\r\nServer: \(DeviceClient.version)\r\n"
            + "Content-Type: \(type)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: "Internal Server Error"
        }
    }
}
