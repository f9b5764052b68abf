// Requests that do not come from the page: other names, other sites.

import ControlServer
import Testing

@testable import DevicePage

@Suite("Requests that do not come from the page")
struct PageGateTests {
    private let gate: PageGate

    init() {
        let address = PageAddress()
        address.set(port: 8123)
        gate = PageGate(address: address)
    }

    private func refuses(_ method: String, _ headers: [(String, String)]) -> Bool {
        let request = HTTPRequest(
            method: method, path: "/v1/lock", headers: headers.map { (name: $0.0, value: $0.1) },
            client: ClientDisconnect())
        return gate.refusal(of: request) != nil
    }

    @Test(arguments: ["127.0.0.1:8123", "localhost:8123"])
    func `the page's own requests go on`(host: String) {
        #expect(!refuses("GET", [("host", host)]))
        #expect(!refuses("GET", [("host", host), ("sec-fetch-site", "none")]))
        #expect(
            !refuses("POST", [("host", host), ("origin", "http://\(host)"), ("sec-fetch-site", "same-origin")]))
    }

    @Test(arguments: [
        "", "127.0.0.1", "127.0.0.1:80", "evil.example:8123", "127.0.0.1:8123.evil.example", "LOCALHOST:8123",
        "[::1]:8123", "0.0.0.0:8123",
    ])
    func `another name is refused, to which a name server may have been made to point here`(host: String) {
        #expect(refuses("GET", [("host", host)]))
    }

    @Test(arguments: ["127.0.0.1", "localhost", "127.0.0.1:80"])
    func `at the port of HTTP browsers leave the port out`(host: String) {
        let address = PageAddress()
        address.set(port: 80)
        for origin in ["http://\(host)", "http://evil.example", "http://127.0.0.1:8080"] {
            let request = HTTPRequest(
                method: "POST", path: "/v1/lock",
                headers: [(name: "host", value: host), (name: "origin", value: origin)],
                client: ClientDisconnect())
            #expect((PageGate(address: address).refusal(of: request) == nil) == (origin == "http://\(host)"))
        }
    }

    @Test func `no name, and two names, are refused`() {
        #expect(refuses("GET", []))
        #expect(refuses("GET", [("host", "127.0.0.1:8123"), ("host", "127.0.0.1:8123")]))
    }

    @Test(arguments: [
        "null", "", "http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:9999", "http://localhost:8123",
    ])
    func `another origin is refused, also of this machine`(origin: String) {
        for method in ["GET", "POST"] {
            #expect(refuses(method, [("host", "127.0.0.1:8123"), ("origin", origin)]))
        }
    }

    @Test func `a POST without an origin is no page's`() {
        #expect(refuses("POST", [("host", "127.0.0.1:8123")]))
    }

    @Test(arguments: ["cross-site", "same-site", "nonsense"])
    func `what a browser calls another site's request is refused`(site: String) {
        #expect(refuses("GET", [("host", "127.0.0.1:8123"), ("sec-fetch-site", site)]))
    }

    @Test func `before the server listens nothing goes on`() {
        let gate = PageGate(address: PageAddress())
        let request = HTTPRequest(
            method: "GET", path: "/", headers: [(name: "host", value: "127.0.0.1:8123")], client: ClientDisconnect())
        #expect(gate.refusal(of: request) != nil)
    }
}
