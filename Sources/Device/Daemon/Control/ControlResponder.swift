// From a request of HTTP to its route, and from the route's reply to a response.

import AppContainer
import ControlServer
import Glibc
import Logging
import Platform
import SandboxModel

/// Answers the requests of one device's control socket.
struct ControlResponder<Served: ServedDevice>: HTTPResponder {
    private let device: Served
    private let routes: [String: Route<Served>]
    private let queue = WorkQueue()
    private let log: Logger

    /// - Parameter shutdown: ends the device and its server; called on a thread where it may block.
    init(device: Served, log: Logger, shutdown: @escaping @Sendable () -> Void) {
        self.device = device
        self.log = log
        let routes = ControlResponder.routes(shutdown: shutdown)
        self.routes = Dictionary(uniqueKeysWithValues: routes.map { ($0.path, $0) })
    }

    /// The device's routes, and the one of ``ShutdownRequest``.
    static func routes(shutdown: @escaping @Sendable () -> Void) -> [Route<Served>] {
        let end = Route<Served>(ShutdownRequest.self) { (_, call) throws(Complaint) in
            _ = try call.decode(ShutdownRequest.self)
            await call.queue.run { shutdown() }
            return .success(Done(), lines: call.wantsLines)
        }
        return Served.routes + [end]
    }

    // MARK: HTTPResponder

    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        switch peer {
        case .user(ActingUser.starter), .user(0): nil
        case .user, .unknown:
            ControlReply.failure(Complaint(.notAllowed, "the device belongs to another user")).response
        }
    }

    func response(to fault: RequestFault) -> HTTPResponse {
        ControlReply.failure(fault).response
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        let response: HTTPResponse
        do throws(Complaint) {
            response = try await reply(to: request).response
        } catch {
            log.refusal(of: request.path, error)
            response = ControlReply.failure(error).response
        }
        return request.method == "HEAD" ? response.headAlone : response
    }

    private func reply(to request: HTTPRequest) async throws(Complaint) -> ControlReply {
        if let named = request.device, named != device.identifier {
            return .failure(
                Complaint(.daemonUnreachable, "this is the device \(device.identifier), and not \(named)"), status: 421)
        }
        if request.method == "OPTIONS", request.path == "*" { return .methods("GET, HEAD, OPTIONS, POST") }
        guard request.path.hasPrefix(ControlPath.root),
            let route = routes[String(request.path.dropFirst(ControlPath.root.count))]
        else {
            throw Complaint(.notFound, "\(request.path) is not a path of the control API")
        }
        let methods = route.isQuery ? "GET, HEAD, OPTIONS" : "POST, OPTIONS"
        switch request.method {
        case "OPTIONS": return .methods(methods)
        case "GET" where route.isQuery, "HEAD" where route.isQuery, "POST" where !route.isQuery: break
        default:
            let method = route.isQuery ? "GET" : "POST"
            return .failure(
                Complaint(.badRequest, "\(request.path) wants the method \(method)"), status: 405, allow: methods)
        }
        let call = ControlCall(
            body: request.body, wantsLines: request.accept.contains(ControlMedia.lines), client: request.client,
            queue: queue, log: log)
        return try await route.answer(device, call)
    }
}

extension Logger {
    /// Logs a request that was not carried out.
    func refusal(of path: String, _ complaint: Complaint) {
        notice("\(path): \(complaint.message)", metadata: ["kind": "\(complaint.kind.rawValue)"])
    }
}
