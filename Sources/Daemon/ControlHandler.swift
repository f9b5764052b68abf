// One request of the control API: found, bounded, decoded, carried out where it may block, answered.

import AppContainer
import FlyingFox
import FlyingSocks
import FoundationEssentials
import Logging
import SandboxModel

struct ControlHandler: HTTPHandler {
    private let routes: [String: Route]
    private let queue = WorkQueue()
    private let log: Logger

    /// - Parameters:
    ///   - shutdown: ends the device; runs where it may block.
    ///   - ended: called when the answer to that has gone out, or could not.
    init(
        device: any ServedDevice, log: Logger, shutdown: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable () -> Void
    ) {
        self.log = log
        routes = ControlHandler.routes(device: device, queue: queue, log: log, shutdown: shutdown, ended: ended)
    }

    /// What one path does.
    struct Route: Sendable {
        let isQuery: Bool
        let answer: @Sendable (_ body: [UInt8], _ lines: Bool) async throws(Complaint) -> HTTPResponse
    }

    func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(Complaint) {
            return try await answer(request)
        } catch {
            log.refusal(request.path, error)
            return ControlHandler.failure(error, status: error.kind.status)
        }
    }

    private func answer(_ request: HTTPRequest) async throws(Complaint) -> HTTPResponse {
        let body = try await body(of: request)
        guard let body else {
            let limit = ControlPath.largestBody
            return ControlHandler.failure(
                Complaint(.badRequest, "the request is larger than \(limit) bytes"), status: 413)
        }
        guard request.path.hasPrefix(ControlPath.root),
            let route = routes[String(request.path.dropFirst(ControlPath.root.count))]
        else {
            throw Complaint(.notFound, "\(request.path) is not a path of the control API")
        }
        guard request.method == (route.isQuery ? .GET : .POST) else {
            let method = route.isQuery ? "GET" : "POST"
            return ControlHandler.failure(
                Complaint(.badRequest, "\(request.path) wants the method \(method)"), status: 405,
                headers: [HTTPHeader("Allow"): method])
        }
        let lines = request.headers[HTTPHeader("Accept")]?.contains(ControlMedia.lines) ?? false
        return try await route.answer(body, lines)
    }

    /// - Returns: nil when the body is too large. The rest of it is read and dropped, as far as is reasonable, so
    ///   that the client has finished sending when the answer arrives.
    private func body(of request: HTTPRequest) async throws(Complaint) -> [UInt8]? {
        let limit = ControlPath.largestBody
        var body: [UInt8] = []
        var received = 0
        do {
            for try await piece in request.bodySequence {
                received += piece.count
                if received <= limit { body += piece } else { body = [] }
                if received > limit * 64 { break }
            }
        } catch {
            throw Complaint(.badRequest, "the body of the request ended early")
        }
        return received <= limit ? body : nil
    }

    // MARK: Answers

    /// - Parameters:
    ///   - lines: the client asked for lines, of which this is the only one.
    ///   - gone: called when the answer has gone out, or could not.
    static func success(
        _ value: some Encodable & Sendable, lines: Bool = false, then gone: (@Sendable () -> Void)? = nil
    ) -> HTTPResponse {
        let body = lines ? ControlJSON.line(ResultLine(result: value)) : ControlJSON.line(value)
        let type = lines ? ControlMedia.lines : ControlMedia.json
        guard let gone else {
            return HTTPResponse(statusCode: .ok, headers: [.contentType: type], body: Data(body))
        }
        return HTTPResponse(
            statusCode: .ok, headers: [.contentType: type],
            body: HTTPBodySequence(from: LastBody(body, then: gone), count: body.count, suggestedBufferSize: body.count))
    }

    static func failure(
        _ complaint: Complaint, status: Int, headers: HTTPHeaders = HTTPHeaders()
    ) -> HTTPResponse {
        var headers = headers
        headers[.contentType] = ControlMedia.json
        return HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: phrase(status)), headers: headers,
            body: Data(ControlJSON.line(Failure(DeviceError(complaint)))))
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: "Internal Server Error"
        }
    }
}

extension Logger {
    /// A request that was not carried out.
    func refusal(_ path: String, _ complaint: Complaint) {
        notice("\(path): \(complaint.message)", metadata: ["kind": "\(complaint.kind.rawValue)"])
    }
}
