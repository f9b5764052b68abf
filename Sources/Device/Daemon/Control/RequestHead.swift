// The head of an HTTP request: found, bounded and looked at before any of it reaches the server.

import SandboxModel

/// Request line and headers, as RFC 9112 has them.
struct RequestHead {
    /// How the head says where the body ends.
    enum Framing: Equatable {
        case counted(Int)
        case chunked
    }

    let framing: Framing
    /// Request line and headers that are passed on.
    private let kept: [String]

    /// Bytes that a head may have.
    static let longest = 16 * 1024

    /// Where the head ends: after the first empty line.
    static func end(in bytes: [UInt8]) -> Int? {
        var index = 0
        while let newline = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[index..<newline]
            if newline > 0, line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return newline + 1 }
            index = newline + 1
        }
        return nil
    }

    /// - Throws: ``Complaint`` of kind `badRequest` for what is not the head of an HTTP/1 request.
    init(_ bytes: some Collection<UInt8>) throws(Complaint) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else {
            throw Complaint(.badRequest, "this is not an HTTP/1 request")
        }
        var kept = [lines[0]]
        var framing: Framing?
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw Complaint(.badRequest, "a header of the request has no name")
            }
            let name = line[..<colon].lowercased()
            switch name {
            case "connection", "expect", Departures.header.lowercased(): continue
            case "content-length", "transfer-encoding":
                guard framing == nil else { throw Complaint(.badRequest, "the request says its length twice") }
                framing = try RequestHead.framing(name, RequestHead.trimmed(line[line.index(after: colon)...]))
            default: kept.append(line)
            }
        }
        self.framing = framing ?? .counted(0)
        self.kept = kept
    }

    /// The request as it is passed on: one a connection, its body in one piece.
    func request(with body: [UInt8], from number: UInt64) -> [UInt8] {
        let lines =
            kept + ["Content-Length: \(body.count)", "Connection: close", "\(Departures.header): \(number)"]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    private static func framing(_ name: String, _ value: String) throws(Complaint) -> Framing {
        if name == "transfer-encoding" {
            guard value.lowercased() == "chunked" else {
                throw Complaint(.badRequest, "the request's Transfer-Encoding is not chunked")
            }
            return .chunked
        }
        guard let length = Int(value), length >= 0 else {
            throw Complaint(.badRequest, "the request's Content-Length is not a number")
        }
        return .counted(length)
    }

    private static func trimmed(_ value: Substring) -> String {
        let start = value.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
