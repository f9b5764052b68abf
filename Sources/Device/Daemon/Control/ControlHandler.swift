// One request of the control API: found, decoded, carried out where it may block, answered.

import AppContainer
import FlyingFox
import Logging
import Platform
import SandboxModel

struct ControlHandler: HTTPHandler {
    private let routes: [String: Route]
    private let log: Logger
    private let answers: Answers
    private let departures: Departures

    /// - Parameters:
    ///   - departures: knows who has gone, by what the gate adds to each request.
    ///   - answers: counts the answers that are under way.
    ///   - shutdown: ends the device; runs where it may block.
    init(
        device: any ServedDevice, log: Logger, answers: Answers, departures: Departures,
        shutdown: @escaping @Sendable () -> Void
    ) {
        self.departures = departures
        self.log = log
        self.answers = answers
        routes = ControlHandler.routes(device: device, queue: WorkQueue(), log: log, shutdown: shutdown)
    }

    /// What one path does.
    struct Route: Sendable {
        let isQuery: Bool
        let answer:
            @Sendable (_ body: [UInt8], _ lines: Bool, _ departure: Departure) async throws(Complaint) -> ControlReply

        init(
            isQuery: Bool,
            answer:
                @escaping @Sendable (_ body: [UInt8], _ lines: Bool, _ departure: Departure) async throws(Complaint)
                -> ControlReply
        ) {
            self.isQuery = isQuery
            self.answer = answer
        }

        /// A path whose answer does not depend on whether somebody still waits for it.
        init(
            isQuery: Bool,
            answer: @escaping @Sendable (_ body: [UInt8], _ lines: Bool) async throws(Complaint) -> ControlReply
        ) {
            self.init(isQuery: isQuery) { (body, lines, _) throws(Complaint) in try await answer(body, lines) }
        }
    }

    func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
        let answer = answers.begin()
        do throws(Complaint) {
            return try await reply(to: request).response(answer)
        } catch {
            log.refusal(request.path, error)
            return ControlReply.failure(error).response(answer)
        }
    }

    private func reply(to request: HTTPRequest) async throws(Complaint) -> ControlReply {
        let body = try await body(of: request)
        guard request.path.hasPrefix(ControlPath.root),
            let route = routes[String(request.path.dropFirst(ControlPath.root.count))]
        else {
            throw Complaint(.notFound, "\(request.path) is not a path of the control API")
        }
        guard request.method == (route.isQuery ? .GET : .POST) else {
            let method = route.isQuery ? "GET" : "POST"
            return .failure(
                Complaint(.badRequest, "\(request.path) wants the method \(method)"), status: 405, allow: method)
        }
        let lines = request.headers[HTTPHeader("Accept")]?.contains(ControlMedia.lines) ?? false
        return try await route.answer(body, lines, departures[request.headers[HTTPHeader(Departures.header)]])
    }

    /// The gate has bounded it, and passes no request on that is not whole.
    private func body(of request: HTTPRequest) async throws(Complaint) -> [UInt8] {
        do {
            return Array(try await request.bodyData)
        } catch {
            throw Complaint(.badRequest, "the body of the request ended early")
        }
    }
}

extension Logger {
    /// A request that was not carried out.
    func refusal(_ path: String, _ complaint: Complaint) {
        notice("\(path): \(complaint.message)", metadata: ["kind": "\(complaint.kind.rawValue)"])
    }
}
