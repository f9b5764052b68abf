// One request and its answer over the control socket: HTTP/1.1 as RFC 9112 has it, as far as a client needs it.
//
// FlyingFox's own client hands an answer over when all of it is there; progress has to be shown line by line.

import FlyingSocks
import FoundationEssentials
import Glibc

struct ControlConnection: ~Copyable {
    private let socket: AsyncSocket
    private var buffer: [UInt8] = []
    private var position = 0

    /// A status line or header longer than this is not from a device.
    private static let longestLine = 16 * 1024

    init(to path: String) async throws(DeviceError) {
        do {
            socket = try await AsyncSocket.connected(to: sockaddr_un.unix(path: path))
        } catch {
            throw .unreachable("nobody answers at \(path); start the device, for instance with `appcontainer mount`")
        }
    }

    deinit {
        try? socket.close()
    }

    /// Sends a request and reads the answer up to its body.
    /// - Returns: the status code and what is to be read next.
    mutating func send(
        method: String, path: String, accept: String, body: [UInt8]
    ) async throws(DeviceError) -> (status: Int, body: Body) {
        var request = "\(method) \(path) HTTP/1.1\r\nHost: device\r\nAccept: \(accept)\r\n"
        if method != "GET" {
            request += "Content-Type: \(ControlMedia.json)\r\n"
        }
        request += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        do {
            try await socket.write(Data(request.utf8) + Data(body))
        } catch {
            throw ControlConnection.broken(error)
        }
        return try await head()
    }

    /// How the body of an answer is delimited.
    enum Body {
        case counted(Int)
        case chunked
    }

    private mutating func head() async throws(DeviceError) -> (status: Int, body: Body) {
        let words = try await line().split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw ControlConnection.malformed
        }
        var body = Body.counted(0)
        while true {
            let header = try await line()
            if header.isEmpty { return (status, body) }
            let parts = header.split(separator: ":", maxSplits: 1).map { $0.trimmed.lowercased() }
            guard parts.count == 2 else { continue }
            if parts[0] == "content-length" {
                guard let count = Int(parts[1]), count >= 0 else { throw ControlConnection.malformed }
                body = .counted(count)
            } else if parts[0] == "transfer-encoding", parts[1] == "chunked" {
                body = .chunked
            }
        }
    }

    /// Reads the body and hands over each line of it, without its end.
    /// - Parameter handle: answers whether to read on.
    mutating func lines(of body: Body, _ handle: ([UInt8]) throws(DeviceError) -> Bool) async throws(DeviceError) {
        var line: [UInt8] = []
        var chunked = false
        var remaining = 0
        switch body {
        case .counted(let count): remaining = count
        case .chunked: chunked = true
        }
        while true {
            if remaining == 0 && chunked {
                let size = try await self.line().split(separator: ";").first ?? ""
                guard let size = Int(size.trimmed, radix: 16), size >= 0 else { throw ControlConnection.malformed }
                remaining = size
            }
            if remaining == 0 { break }
            while remaining > 0 {
                let piece = try await bytes(atMost: remaining)
                remaining -= piece.count
                for byte in piece {
                    if byte == UInt8(ascii: "\n") {
                        guard try handle(line) else { return }
                        line.removeAll(keepingCapacity: true)
                    } else {
                        line.append(byte)
                    }
                }
            }
            if !chunked { break }
            _ = try await self.line()
        }
        if !line.isEmpty { _ = try handle(line) }
    }

    // MARK: Bytes

    private mutating func line() async throws(DeviceError) -> String {
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

    private mutating func bytes(atMost count: Int) async throws(DeviceError) -> ArraySlice<UInt8> {
        if position == buffer.count { try await fill() }
        let end = min(buffer.count, position + count)
        defer { position = end }
        return buffer[position..<end]
    }

    private mutating func fill() async throws(DeviceError) {
        do {
            buffer = try await socket.read(atMost: 4096)
            position = 0
        } catch {
            throw ControlConnection.broken(error)
        }
    }

    private static func broken(_ error: any Error) -> DeviceError {
        if error is CancellationError {
            return DeviceError(kind: DeviceError.cancelledKind, message: "cancelled")
        }
        return .ended
    }

    private static let malformed = DeviceError.unreachable("what answers at the control socket is not a device")
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
