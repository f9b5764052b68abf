// A request put together from the parts that the parser delivers.

import NIOCore
import NIOHTTP1

/// Collects the head and body of a request, within their limits. A value that knows no socket, so that tests need none.
struct RequestAssembly {
    private let largestBody: Int
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(largestBody: Int) {
        self.largestBody = largestBody
    }

    /// Takes the next part.
    /// - Returns: the request when this part was its last, else nil.
    /// - Throws: ``RequestFault/malformed`` or ``RequestFault/bodyTooLong(_:)``; the value is of no use after that.
    mutating func add(
        _ part: HTTPServerRequestPart, from client: ClientDisconnect
    ) throws(RequestFault) -> HTTPRequest? {
        switch part {
        case .head(let head):
            try begin(head)
            return nil
        case .body(let piece):
            // Of a chunked body no length was announced.
            guard body.count + piece.readableBytes <= largestBody else { throw .bodyTooLong(largestBody) }
            body += piece.readableBytesView
            return nil
        case .end:
            guard let head else { throw .malformed }
            let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPRequest(
                method: head.method.rawValue, path: String(target[0]), query: target.count > 1 ? String(target[1]) : "",
                headers: head.headers.map { ($0.name.lowercased(), $0.value) }, body: body, client: client)
        }
    }

    /// Checks the version, the target and the length of the body before any of it comes.
    /// - Throws: ``RequestFault/malformed`` or ``RequestFault/bodyTooLong(_:)``.
    private mutating func begin(_ head: HTTPRequestHead) throws(RequestFault) {
        guard head.version.major == 1, head.uri.hasPrefix("/") || head.method == .OPTIONS && head.uri == "*" else {
            throw .malformed
        }
        let lengths = head.headers["content-length"]
        let codings = head.headers["transfer-encoding"]
        // With two lengths, two readers could see two different requests (RFC 9112, section 6.3).
        guard lengths.count + codings.count <= 1, codings.allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw .malformed
        }
        if let length = lengths.first {
            guard let length = Int(length), length >= 0 else { throw .malformed }
            guard length <= largestBody else { throw .bodyTooLong(largestBody) }
        }
        self.head = head
    }
}
