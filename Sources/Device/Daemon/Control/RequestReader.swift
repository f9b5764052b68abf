// A request as it arrives at the control socket: its head, then its body, each bounded.
//
// The server gets a request when all of it is here: of one that ends halfway it would keep the connection for good.

import AppContainer
import FlyingSocks
import SandboxModel

struct RequestReader {
    /// What came of reading.
    enum Outcome: Sendable {
        /// All bytes, as the server is to see them.
        case request([UInt8])
        /// The body is larger than any command sends.
        case tooLarge
        /// The client went away without a word.
        case nothing
    }

    private let connection: AsyncSocket
    private let number: UInt64
    /// What has arrived and was not looked at yet.
    private var bytes: [UInt8] = []

    /// Bytes that the line before a piece of a body may have.
    private static let longestLine = 256

    /// - Parameter number: by which the server can ask whether the client is still there.
    init(_ connection: AsyncSocket, number: UInt64) {
        self.connection = connection
        self.number = number
    }

    /// - Throws: ``Complaint`` of kind `badRequest` for what is not a request, or not all of one.
    mutating func read() async throws(Complaint) -> Outcome {
        guard let head = try await head() else { return .nothing }
        let body: [UInt8]?
        switch head.framing {
        case .counted(let count): body = count > ControlPath.largestBody ? nil : try await take(count)
        case .chunked: body = try await chunks()
        }
        guard let body else { return .tooLarge }
        return .request(head.request(with: body, from: number))
    }

    private mutating func head() async throws(Complaint) -> RequestHead? {
        while true {
            if let end = RequestHead.end(in: bytes) {
                let head = try RequestHead(bytes[..<end])
                bytes.removeFirst(end)
                return head
            }
            guard bytes.count < RequestHead.longest else {
                throw Complaint(.badRequest, "the head of the request is longer than \(RequestHead.longest) bytes")
            }
            if bytes.isEmpty {
                guard let piece = try? await connection.read(atMost: 4096) else { return nil }
                bytes = piece
            } else {
                try await fill()
            }
        }
    }

    /// - Returns: nil when the body is too large.
    private mutating func chunks() async throws(Complaint) -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            let size = try await line().prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
            guard let count = Int(String(decoding: size, as: UTF8.self), radix: 16), count >= 0 else {
                throw Complaint(.badRequest, "a piece of the request's body does not say its length")
            }
            if count == 0 { break }
            guard count <= ControlPath.largestBody - body.count else { return nil }
            body += try await take(count)
            guard try await line().isEmpty else {
                throw Complaint(.badRequest, "a piece of the request's body is not of the length that it says")
            }
        }
        // Trailers say nothing that is asked for here.
        var rest = RequestHead.longest
        while true {
            let line = try await line()
            if line.isEmpty { return body }
            rest -= line.count
            guard rest > 0 else { throw Complaint(.badRequest, "the request does not end after its body") }
        }
    }

    /// The next line without its end.
    private mutating func line() async throws(Complaint) -> [UInt8] {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                var line = Array(bytes[..<end])
                bytes.removeFirst(end + 1)
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return line
            }
            guard bytes.count < RequestReader.longestLine else {
                throw Complaint(.badRequest, "a piece of the request's body does not say its length")
            }
            try await fill()
        }
    }

    private mutating func take(_ count: Int) async throws(Complaint) -> [UInt8] {
        while bytes.count < count { try await fill() }
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }

    private mutating func fill() async throws(Complaint) {
        do {
            bytes += try await connection.read(atMost: 4096)
        } catch {
            throw Complaint(.badRequest, "the request ended early")
        }
    }
}
