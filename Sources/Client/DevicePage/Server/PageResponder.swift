// From a request of the browser to its response.

import AppContainer
import ControlServer
import Platform
import SandboxModel

/// Answers the requests of one page's server.
struct PageResponder: HTTPResponder {
    let access: PageAccess
    let gate: PageGate
    let files: PageFiles
    let forwarding: PageForwarding
    let uploads: Uploads
    let reports: PageReports
    /// The users whose processes may connect: nobody else's, also with the link.
    let users: Set<UInt32>

    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        guard case .user(let user) = peer else {
            return PageReply.sentence(
                "The kernel does not tell whose connection this is; use one from 127.0.0.1 to 127.0.0.1.", status: 403)
        }
        if users.contains(user) { return nil }
        return PageReply.sentence("This page belongs to another user of this machine.", status: 403)
    }

    func response(to fault: RequestFault) -> HTTPResponse {
        switch fault {
        case .bodyTooLong(let limit):
            PageReply.failure(
                Complaint(.badRequest, "the request is larger than \(limit) bytes; send it in parts"), status: 413)
        case .timedOut: PageReply.failure(Complaint(.badRequest, "the request was not complete in time"), status: 408)
        default: PageReply.failure(Complaint(.badRequest, "this is not a request of a page"), status: 400)
        }
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        if let refusal = gate.refusal(of: request) {
            return PageReply.failure(Complaint(.notAllowed, refusal), status: 403)
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            return PageReply.failure(Complaint(.badRequest, "the method is GET, HEAD or POST"), status: 405)
        }
        let response = await answer(request)
        return request.method == "HEAD" ? response.headAlone : response
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let isAdmitted = access.admits(cookies: request.values(of: "cookie"))
        if request.path == "/" { return shell(for: request, isAdmitted: isAdmitted) }
        guard isAdmitted else { return PageResponder.notAdmitted }
        if let file = files.file(at: request.path), request.method != "POST" {
            return PageReply.whole(file.bytes, type: file.type)
        }
        guard access.admits(secrets: request.values(of: PageAccess.header)) else { return PageResponder.notAdmitted }
        if request.path.hasPrefix(ControlPath.root) { return await forwarding.response(to: request) }
        switch (request.method, request.path) {
        case ("POST", "/deliver"): return await uploads.response(to: request)
        case ("GET", "/report"), ("HEAD", "/report"): return await reports.response(to: request)
        default: return PageReply.failure(Complaint(.notFound, "\(request.path) is not here"), status: 404)
        }
    }

    private static let notAdmitted = PageReply.failure(
        Complaint(.notAllowed, "open the link that the command printed, or print another one with Enter"), status: 401)

    /// The page itself. A token is exchanged for the cookie, and does not lead on: a cookie that is set on the way to
    /// another address is not always sent there. A page that was opened keeps its secret; a reload finds it there.
    private func shell(for request: HTTPRequest, isAdmitted: Bool) -> HTTPResponse {
        guard request.method != "POST" else {
            return PageReply.failure(Complaint(.badRequest, "the method is GET or HEAD"), status: 405)
        }
        let token = QueryText(request.query)["token"]
        // Of HEAD a token is not used up: programs that look at links send it.
        if request.method == "GET", let token, let cookie = access.exchange(token) {
            return PageReply.whole(files.opened, type: PageReply.html, further: [("Set-Cookie", cookie)])
        }
        guard !isAdmitted else { return PageReply.whole(files.shell, type: PageReply.html) }
        return PageReply.sentence(
            token == nil
                ? "Open the link that the command printed; press Enter there for a new one."
                : "This link was used already, or is of another run: press Enter where the command runs for a new one.",
            status: 403)
    }
}
