// One request of the control API: its route found, its body decoded, carried out, and answered.

import AppContainer
import ControlServer
import Glibc
import Logging
import Platform
import SandboxModel

struct ControlResponder: HTTPResponder {
    private let routes: [String: Route]
    private let log: Logger

    /// - Parameter shutdown: ends the device; runs where it may block.
    init(device: any ServedDevice, log: Logger, shutdown: @escaping @Sendable () -> Void) {
        self.log = log
        routes = ControlResponder.routes(device: device, queue: WorkQueue(), log: log, shutdown: shutdown)
    }

    /// What one path does.
    struct Route: Sendable {
        let isQuery: Bool
        let answer:
            @Sendable (_ body: [UInt8], _ lines: Bool, _ client: ClientDisconnect) async throws(Complaint)
                -> ControlReply

        init(
            isQuery: Bool,
            answer:
                @escaping @Sendable (_ body: [UInt8], _ lines: Bool, _ client: ClientDisconnect)
                async throws(Complaint) -> ControlReply
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

    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        switch peer {
        case .user(geteuid()), .user(0): nil
        case .user, .loopback:
            ControlReply.failure(Complaint(.notAllowed, "the device belongs to another user")).response
        }
    }

    func response(to fault: RequestFault) -> HTTPResponse {
        ControlReply.failure(fault).response
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(Complaint) {
            return try await reply(to: request).response
        } catch {
            log.refusal(request.path, error)
            return ControlReply.failure(error).response
        }
    }

    private func reply(to request: HTTPRequest) async throws(Complaint) -> ControlReply {
        guard request.path.hasPrefix(ControlPath.root),
            let route = routes[String(request.path.dropFirst(ControlPath.root.count))]
        else {
            throw Complaint(.notFound, "\(request.path) is not a path of the control API")
        }
        let method = route.isQuery ? "GET" : "POST"
        guard request.method == method else {
            return .failure(
                Complaint(.badRequest, "\(request.path) wants the method \(method)"), status: 405, allow: method)
        }
        return try await route.answer(request.body, request.accept.contains(ControlMedia.lines), request.client)
    }
}

extension Logger {
    /// A request that was not carried out.
    func refusal(_ path: String, _ complaint: Complaint) {
        notice("\(path): \(complaint.message)", metadata: ["kind": "\(complaint.kind.rawValue)"])
    }
}
