// The head of an HTTP request: found, bounded and looked at before any of it reaches the server.

import SandboxModel

/// Request line and headers, as RFC 9112 has them.
struct RequestHead {
    /// The head as it is passed on: one request a connection.
    let bytes: [UInt8]
    /// Bytes of the body, as far as the head says; 0 when it comes in pieces.
    let bodyLength: Int

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
        var lengths = 0
        var bodyLength = 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw Complaint(.badRequest, "a header of the request has no name")
            }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            if name == "connection" { continue }
            if name == "transfer-encoding" { lengths += 1 }
            if name == "content-length" {
                lengths += 1
                guard let length = Int(String(value.reversed().drop { $0 == " " }.reversed())), length >= 0 else {
                    throw Complaint(.badRequest, "the request's Content-Length is not a number")
                }
                bodyLength = length
            }
            kept.append(line)
        }
        guard lengths <= 1 else { throw Complaint(.badRequest, "the request says its length twice") }
        kept.append("Connection: close")
        self.bodyLength = bodyLength
        self.bytes = Array((kept.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
