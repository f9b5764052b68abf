// One request and its response over the control socket: the part of HTTP/1.1 (RFC 9112) that this client needs. It is
// code of this library, so that a package with it as its dependency builds no HTTP library.

import Glibc
import Platform
import SandboxModel

/// A connection to a control socket. It carries one request, and is closed with this value.
struct ControlConnection: ~Copyable {
    private let socket: LocalConnection
    private var buffer: [UInt8] = []
    private var position = 0
    /// The rest of the body.
    private var body = Body.counted(0)
    /// The name of the server, such as `appcontainer/0.2.0`; nil before the response.
    private(set) var server: String?

    /// Bytes of a status line or header; a device sends no longer one.
    private static let longestLine = 16 * 1024
    /// Attempts to connect while the socket's queue is full, at 10 ms each: 5 seconds.
    private static let longestQueue = 500

    /// The framing of a body, with the bytes left of it or of the present chunk.
    private enum Body {
        case counted(Int)
        case chunk(Int)
        case ended
    }

    /// The device that the request names; nil for any.
    private let device: String?

    /// - Throws: ``DeviceError`` of kind `daemonUnreachable`; `notAllowed` where another user listens.
    init(to path: String, of device: String?) async throws(DeviceError) {
        self.device = device
        socket = try await ControlConnection.connected(to: path)
    }

    /// The process that listens, by the kernel's word; nil for one that this process does not see.
    var process: Int32? {
        guard let process = try? socket.peerProcess, process > 0 else { return nil }
        return process
    }

    private static func connected(to path: String) async throws(DeviceError) -> LocalConnection {
        var attempts = 0
        while true {
            var connection: LocalConnection?
            do throws(SystemError) {
                connection = try LocalConnection(to: path)
            } catch {
                switch error.code {
                case ENOENT, ECONNREFUSED:
                    throw DeviceError(
                        .daemonUnreachable,
                        "nobody answers at \(path); start the device, for instance with `appcontainer boot`")
                case EAGAIN where attempts < longestQueue: break
                default: throw DeviceError(error, doing: "cannot connect to the control socket \(path)")
                }
            }
            if let connection {
                try requireOwn(connection, at: path)
                return connection
            }
            attempts += 1
            // A Unix socket offers no other way to wait for space in its queue.
            do {
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                throw DeviceError(.cancelled, "cancelled")
            }
        }
    }

    /// Refuses to talk to another user's process: a passcode may be in the request.
    private static func requireOwn(_ connection: LocalConnection, at path: String) throws(DeviceError) {
        guard let user = try? connection.peer, user == ActingUser.starter || user == 0 else {
            throw DeviceError(.notAllowed, "the process that listens at \(path) is another user's")
        }
    }

    /// Sends a request and reads the response up to its body, which ``line()`` and ``rest()`` read.
    /// - Returns: the status code.
    mutating func send(
        method: String, path: String, accept: String, body: [UInt8]
    ) async throws(DeviceError) -> Int {
        var request = "\(method) \(path) HTTP/1.1\r\nHost: device\r\nAccept: \(accept)\r\n"
        if let device { request += "\(ControlPath.deviceHeader): \(device)\r\n" }
        if method != "GET" {
            request += "Content-Type: \(ControlMedia.json)\r\n"
        }
        request += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        do {
            try await socket.write(Array(request.utf8) + body)
        } catch {
            throw ControlConnection.broken(error)
        }
        return try await head()
    }

    private mutating func head() async throws(DeviceError) -> Int {
        let words = try await headLine().split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw ControlConnection.malformed
        }
        while true {
            let header = try await headLine()
            if header.isEmpty { return status }
            let parts = header.split(separator: ":", maxSplits: 1).map(\.trimmed)
            guard parts.count == 2 else { continue }
            switch (parts[0].lowercased(), parts[1].lowercased()) {
            case ("content-length", let value):
                guard let count = Int(value), count >= 0 else { throw ControlConnection.malformed }
                body = .counted(count)
            case ("transfer-encoding", "chunked"): body = .chunk(0)
            case ("server", _): server = parts[1]
            default: break
            }
        }
    }

    /// The next line of the body, without its end.
    /// - Returns: nil at the end of the body.
    mutating func line() async throws(DeviceError) -> [UInt8]? {
        var line: [UInt8] = []
        while let piece = try await piece(upTo: UInt8(ascii: "\n")) {
            line += piece
            if line.last == UInt8(ascii: "\n") {
                line.removeLast()
                return line
            }
        }
        return line.isEmpty ? nil : line
    }

    /// The rest of the body.
    /// - Parameter most: the bytes that it may have.
    mutating func rest(atMost most: Int = .max) async throws(DeviceError) -> [UInt8] {
        var rest: [UInt8] = []
        while let piece = try await piece(upTo: nil) {
            rest += piece
            guard rest.count <= most else { throw ControlConnection.malformed }
        }
        return rest
    }

    /// The next bytes of the body, up to and with the first `end`.
    /// - Returns: nil at the end of the body.
    private mutating func piece(upTo end: UInt8?) async throws(DeviceError) -> ArraySlice<UInt8>? {
        if case .chunk(0) = body {
            let size = try await headLine().split(separator: ";").first ?? ""
            guard let size = Int(size.trimmed, radix: 16), size >= 0 else { throw ControlConnection.malformed }
            body = size == 0 ? .ended : .chunk(size)
            if size == 0 { _ = try await headLine() }
        }
        let left: Int
        switch body {
        case .counted(let count), .chunk(let count): left = count
        case .ended: left = 0
        }
        guard left > 0 else { return nil }
        if position == buffer.count { try await fill() }
        var piece = buffer[position...].prefix(left)
        if let end, let index = piece.firstIndex(of: end) { piece = piece[...index] }
        position = piece.endIndex
        if case .chunk = body {
            body = .chunk(left - piece.count)
            // The line end after the chunk.
            if left == piece.count { _ = try await headLine() }
        } else {
            body = .counted(left - piece.count)
        }
        return piece
    }

    // MARK: Bytes

    private mutating func headLine() async throws(DeviceError) -> String {
        var line: [UInt8] = []
        while line.count < ControlConnection.longestLine {
            if position == buffer.count { try await fill() }
            let byte = buffer[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(decoding: line, as: UTF8.self)
            }
            line.append(byte)
        }
        throw ControlConnection.malformed
    }

    private mutating func fill() async throws(DeviceError) {
        do {
            buffer = try await socket.read(atMost: 4096)
            position = 0
        } catch {
            throw ControlConnection.broken(error)
        }
        if buffer.isEmpty { throw .ended }
    }

    private static func broken(_ error: any Error) -> DeviceError {
        error is CancellationError ? DeviceError(.cancelled, "cancelled") : .ended
    }

    private static let malformed = DeviceError(
        .daemonUnreachable, "what answers at the control socket is not a device")
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
