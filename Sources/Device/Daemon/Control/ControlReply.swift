// The reply of a handler, and the response that it becomes.

import AppContainer
import ControlServer
import SandboxModel

/// A reply: one JSON object, lines of JSON, or a complaint with its status.
struct ControlReply: Sendable {
    private var status = 200
    /// nil for a reply without a body.
    private var type: String? = ControlMedia.json
    private let body: HTTPResponse.Body
    /// The methods of the path, in the response to a request with another one, or for them.
    private var allow: String?

    /// - Parameter lines: the client asked for lines, so the reply is one line with `result`.
    static func success(_ value: some Encodable & Sendable, lines: Bool = false) -> ControlReply {
        lines
            ? ControlReply(type: ControlMedia.lines, body: .whole(ControlJSON.line(ResultLine(result: value))))
            : ControlReply(body: .whole(ControlJSON.line(value)))
    }

    /// Lines that are sent as they come.
    static func lines(_ lines: any AsyncSequence<[UInt8], Never> & Sendable) -> ControlReply {
        ControlReply(type: ControlMedia.lines, body: .stream(lines))
    }

    /// The reply to OPTIONS.
    static func methods(_ methods: String) -> ControlReply {
        ControlReply(status: 204, type: nil, body: .omitted(length: nil), allow: methods)
    }

    /// - Parameter status: in place of the kind's own.
    static func failure(_ complaint: Complaint, status: Int? = nil, allow: String? = nil) -> ControlReply {
        ControlReply(
            status: status ?? complaint.kind.status,
            body: .whole(ControlJSON.line(AppContainer.Failure(DeviceError(complaint)))), allow: allow)
    }

    /// The reply to a request that never reached a handler.
    static func failure(_ fault: RequestFault) -> ControlReply {
        let (status, message) =
            switch fault {
            case .malformed: (400, "this is not an HTTP/1 request")
            case .endedEarly: (400, "the request ended early")
            case .headTooLong(let limit): (400, "the head of the request is longer than \(limit) bytes")
            case .bodyTooLong(let limit): (413, "the request is larger than \(limit) bytes")
            case .timedOut: (408, "the request did not arrive in time")
            }
        return failure(Complaint(.badRequest, message), status: status)
    }

    var response: HTTPResponse {
        var headers = [("Server", DeviceClient.version)]
        if let type { headers.insert(("Content-Type", type), at: 0) }
        if let allow { headers.append(("Allow", allow)) }
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}
