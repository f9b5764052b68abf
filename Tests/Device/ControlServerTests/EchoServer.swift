// A server that says what it was asked, and a client that sends bytes as they are.

import ControlServer
import Foundation
import Platform
import Synchronization

/// Answers each path with itself. `/wait` waits until ``release()``, `/stream` sends two pieces, the second after it.
final class EchoResponder: HTTPResponder {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isReleased = false
        var count = 0
    }

    private let state = Mutex(State())
    private let refused: HTTPPeer?

    /// - Parameter refused: a client that may not connect.
    init(refusing refused: HTTPPeer? = nil) {
        self.refused = refused
    }

    /// Requests that wait.
    var waiting: Int { state.withLock { $0.count } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                state.count += 1
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
    }

    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        peer == refused ? HTTPResponse(status: 403, headers: [], body: .whole([])) : nil
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        switch request.path {
        case "/wait":
            await wait()
            return HTTPResponse(status: 200, headers: [], body: .whole(Array("waited".utf8)))
        case "/stream":
            let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            continuation.yield(Array("first ".utf8))
            Task {
                await wait()
                continuation.yield(Array("second".utf8))
                continuation.finish()
            }
            return HTTPResponse(status: 200, headers: [], body: .stream(pieces))
        default:
            let text = "\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))"
            return HTTPResponse(status: 200, headers: [("X-Accept", request.accept)], body: .whole(Array(text.utf8)))
        }
    }

    func response(to fault: RequestFault) -> HTTPResponse {
        HTTPResponse(status: 400, headers: [], body: .whole(Array("\(fault)".utf8)))
    }
}

/// A server for the time of one test.
struct EchoServer {
    let responder: EchoResponder
    let address: HTTPServer.Address
    let server: HTTPServer

    static func run(
        _ responder: EchoResponder = EchoResponder(), at address: HTTPServer.Address? = nil,
        limits: ConnectionLimits = ConnectionLimits(body: 1024),
        _ body: (EchoServer) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/echo-\(UInt64.random(in: 0 ... .max))"
        let server = HTTPServer(responder: responder, limits: limits) { _ in }
        let actual = try await server.start(at: address ?? .unix(path: path))
        do {
            try await body(EchoServer(responder: responder, address: actual, server: server))
        } catch {
            await server.stop()
            try? HostPath.removeFile(path)
            throw error
        }
        await server.stop()
        try? HostPath.removeFile(path)
    }

    var path: String {
        if case .unix(let path) = address { path } else { "" }
    }

    /// Sends bytes, and reads until the server closes.
    func exchange(_ text: String) async throws -> String {
        let connection = try LocalConnection(to: path)
        try await connection.write(Array(text.utf8))
        return try await connection.text()
    }

    func get(_ path: String) async throws -> String {
        try await exchange("GET \(path) HTTP/1.1\r\nHost: d\r\n\r\n")
    }
}

extension LocalConnection {
    /// All that the other end sends until it closes.
    func text() async throws -> String {
        var bytes: [UInt8] = []
        while case let piece = try await read(atMost: 4096), !piece.isEmpty { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }
}
