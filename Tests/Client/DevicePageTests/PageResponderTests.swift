// The answer to a request, by its path and by what it has of the right to use the page.

import ControlServer
import Testing

@testable import DevicePage

@Suite("The right that a path needs")
struct PageResponderTests {
    private let address = PageAddress()
    private let access: PageAccess
    private let responder: PageResponder
    private let cookie: String

    init() throws {
        address.set(port: 8123)
        access = PageAccess(address)
        cookie = String(try #require(access.exchange(access.makeToken())).prefix { $0 != ";" })
        let device = DeviceReach(off: "the device is off") { nil }
        responder = PageResponder(
            access: access, gate: PageGate(address: address),
            files: try PageFiles(with: Array(#"{"device":"/devices/phone","secret":"5ec4e7"}"#.utf8)),
            forwarding: PageForwarding(device: device, isReadOnly: false),
            uploads: Uploads(device: device, isReadOnly: false),
            reports: PageReports(device: device, isReadOnly: false), users: [1000])
    }

    private func response(
        _ method: String, _ target: String, cookie: Bool = true, secret: Bool = true
    ) async -> HTTPResponse {
        let parts = target.split(separator: "?")
        var headers = [(name: "host", value: "127.0.0.1:8123"), (name: "origin", value: "http://127.0.0.1:8123")]
        if cookie { headers.append((name: "cookie", value: self.cookie)) }
        if secret { headers.append((name: PageAccess.header, value: access.secret)) }
        return await responder.response(
            to: HTTPRequest(
                method: method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "",
                headers: headers, client: ClientDisconnect()))
    }

    private func text(_ response: HTTPResponse) -> String {
        if case .whole(let bytes) = response.body { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    @Test(arguments: [
        ("GET", "/v1/status"), ("GET", "/v1/events/follow"), ("POST", "/v1/lock"), ("POST", "/deliver"),
        ("GET", "/report?app=com.example.Notes"), ("HEAD", "/report?app=com.example.Notes"), ("GET", "/nothing"),
    ])
    func `what the device tells, and what is done with it, needs the cookie and the secret`(
        method: String, target: String
    ) async {
        #expect(await response(method, target, secret: false).status == 401)
        #expect(await response(method, target, cookie: false).status == 401)
        #expect(await response(method, target).status != 401)
    }

    @Test(arguments: ["/page.js", "/page.css", "/worker.js"])
    func `the page's own files need the cookie: a browser asks for them by itself`(path: String) async {
        #expect(await response("GET", path, secret: false).status == 200)
        #expect(await response("GET", path, cookie: false).status == 401)
    }

    @Test func `only the link's own load has the facts and the secret`() async {
        let opened = await response("GET", "/?token=\(access.makeToken())", cookie: false, secret: false)
        #expect(text(opened).contains("/devices/phone") && text(opened).contains("5ec4e7"))
        for (cookie, secret) in [(true, false), (true, true)] {
            let reloaded = await response("GET", "/", cookie: cookie, secret: secret)
            #expect(reloaded.status == 200)
            #expect(!text(reloaded).contains("/devices/phone") && !text(reloaded).contains("5ec4e7"))
        }
        #expect(await response("GET", "/", cookie: false).status == 403)
    }
}
