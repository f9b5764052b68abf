// Requests whose parts arrive slowly, wrongly or not at all, as values and without a socket.

import NIOCore
import NIOHTTP1
import Testing

@testable import ControlServer

@Suite struct RequestAssemblyTests {
    private func head(_ uri: String = "/a", version: HTTPVersion = .http1_1, _ headers: HTTPHeaders = [:])
        -> HTTPServerRequestPart
    {
        .head(HTTPRequestHead(version: version, method: .POST, uri: uri, headers: headers))
    }

    /// Adds parts until there is a request.
    private func assemble(_ parts: [HTTPServerRequestPart], limit: Int = 8) throws(RequestFault) -> HTTPRequest? {
        var assembly = RequestAssembly(largestBody: limit)
        for part in parts {
            if let request = try assembly.add(part, from: ClientDisconnect()) { return request }
        }
        return nil
    }

    private func body(_ text: String) -> HTTPServerRequestPart { .body(ByteBuffer(string: text)) }

    @Test func `a request is there with its last part`() throws {
        #expect(try assemble([head(), body("1234"), body("5678")]) == nil)
        let request = try #require(try assemble([head("/a?b"), body("1234"), body("5678"), .end(nil)]))
        #expect(request.method == "POST" && request.path == "/a")
        #expect(request.body == Array("12345678".utf8))
    }

    @Test func `a body is refused by its length before it comes, and by its bytes while it comes`() {
        #expect(throws: RequestFault.bodyTooLong(8)) { try assemble([head("/", ["Content-Length": "9"])]) }
        #expect(throws: RequestFault.bodyTooLong(8)) { try assemble([head(), body("12345678"), body("9")]) }
    }

    @Test(arguments: [
        [("Content-Length", "1"), ("Content-Length", "1")],
        [("Content-Length", "1"), ("Transfer-Encoding", "chunked")],
        [("Content-Length", "-1")], [("Content-Length", "x")], [("Transfer-Encoding", "gzip")],
    ])
    func `the length of a body is said once, and can be understood`(headers: [(String, String)]) {
        #expect(throws: RequestFault.malformed) { try assemble([head("/", HTTPHeaders(headers))]) }
    }

    @Test func `only a path can be asked for, in HTTP/1`() {
        #expect(throws: RequestFault.malformed) { try assemble([head("http://d/a")]) }
        #expect(throws: RequestFault.malformed) { try assemble([head("*")]) }
        #expect(throws: RequestFault.malformed) { try assemble([head(version: HTTPVersion(major: 2, minor: 0))]) }
    }
}
