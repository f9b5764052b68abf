// Requests of the page for the control API: passed on to the device, as far as the page may make them.

import AppContainer
import ControlServer
import SandboxModel

/// Passes requests on to a device.
struct PageForwarding: Sendable {
    let device: DeviceReach
    /// Whether requests that change something are refused.
    let isReadOnly: Bool

    func response(to request: HTTPRequest) async -> HTTPResponse {
        let path = String(request.path.dropFirst(ControlPath.root.count))
        guard let operation = PageOperation.all[path] else {
            return PageReply.failure(
                Complaint(.notFound, "\(request.path) is nothing that the page asks a device for"), status: 404)
        }
        guard (request.method == "POST") != operation.isQuery else {
            let method = operation.isQuery ? "GET" : "POST"
            return PageReply.failure(
                Complaint(.badRequest, "\(request.path) wants the method \(method)"), status: 405)
        }
        var body = request.body
        if isReadOnly {
            guard let looking = operation.looking(body) else { return PageForwarding.readOnly }
            body = looking
        }
        do throws(DeviceError) {
            let lines = request.accept.contains(ControlMedia.lines)
            let answer = try await device.ask { (client) throws(DeviceError) in
                try await client.forward(
                    path, isQuery: operation.isQuery, accept: lines ? ControlMedia.lines : ControlMedia.json,
                    body: body)
            }
            let type = lines && answer.status == 200 ? ControlMedia.lines : ControlMedia.json
            let reply: HTTPResponse.Body =
                type == ControlMedia.lines
                ? .stream(ForwardedLines(answer: answer))
                : .whole(try await answer.body(atMost: PageForwarding.largestReply))
            return HTTPResponse(
                status: answer.status, headers: [("Content-Type", type)] + PageReply.headers, body: reply)
        } catch {
            let complaint = Complaint(error)
            return PageReply.failure(complaint, status: PageReply.status(of: complaint.kind))
        }
    }

    /// More than the whole record of events, which is the longest reply.
    private static let largestReply = 64 << 20

    static let readOnly = PageReply.failure(
        Complaint(.notAllowed, "this page only looks: it was started with --read-only"), status: 403)
}

/// The body of a response that comes line by line. It ends with the device, and with the browser.
private struct ForwardedLines: AsyncSequence, Sendable {
    let answer: ForwardedResponse

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let answer: ForwardedResponse

        mutating func next() async -> [UInt8]? {
            do throws(DeviceError) {
                return try await answer.line()
            } catch {
                return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(answer: answer) }
}
