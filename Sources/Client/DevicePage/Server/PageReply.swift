// The responses of the page's server, and the headers that all of them have.

import AppContainer
import ControlServer
import FoundationEssentials
import SandboxModel

/// Makes responses.
enum PageReply {
    /// Text as whole response.
    static func whole(
        _ bytes: [UInt8], type: String, status: Int = 200, further: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", type)] + headers + further, body: .whole(bytes))
    }

    /// An error in the form of the control API.
    static func failure(_ complaint: Complaint, status: Int) -> HTTPResponse {
        let failure = Failure(DeviceError(complaint))
        let bytes = (try? JSONEncoder().encode(failure)).map { Array($0) } ?? []
        return whole(bytes + [UInt8(ascii: "\n")], type: ControlMedia.json, status: status)
    }

    /// The status of an error that the page's server itself has come upon.
    static func status(of kind: Complaint.Kind) -> Int {
        switch kind {
        case .badRequest, .invalidIdentifier: 400
        case .notAllowed: 403
        case .unknownApp, .notFound: 404
        case .deviceMissing, .notADevice, .otherDevice: 409
        case .daemonUnreachable, .daemonEnded, .shuttingDown, .inUse: 503
        case .noSpace: 507
        default: 500
        }
    }

    /// A page with one sentence, for a person who cannot be shown more.
    static func sentence(_ text: String, status: Int) -> HTTPResponse {
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>appcontainer</title></head>
            <body><p>\(text)</p></body>
            </html>

            """
        return whole(Array(page.utf8), type: html, status: status)
    }

    static let html = "text/html; charset=utf-8"

    /// The page takes scripts, styles and data from its own server, and from nowhere else.
    static let policyOfPage =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "worker-src 'self'; base-uri 'none'; form-action 'none'"
    /// The same with the part that counts in a header alone: no other page has it in a frame.
    static let policy = policyOfPage + "; frame-ancestors 'none'"

    static let headers: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ("Server", DeviceClient.version),
    ]
}
