// A control server on a socket of its own, and plain HTTP to it, as a client in any language would speak.

import AppContainer
import FlyingSocks
import Foundation
import Logging
import Platform
import Testing

@testable import Daemon

struct ControlServerFixture {
    let device = FakeDevice()
    let socket: String
    let server: ControlServer
    let ended: AsyncStream<Void>

    init() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "control-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        socket = directory.path + "/s"
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        self.ended = ended
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        server = ControlServer(socket: socket, device: device, log: log) { end.finish() }
        try await server.start()
    }

    static func run(_ body: (ControlServerFixture) async throws -> Void) async throws {
        let fixture = try await ControlServerFixture()
        do {
            try await body(fixture)
        } catch {
            await fixture.end()
            throw error
        }
        await fixture.end()
    }

    private func end() async {
        await server.stop()
        try? FileManager.default.removeItem(atPath: (socket as NSString).deletingLastPathComponent)
    }

    /// Sends bytes as they are and reads until the server closes.
    func exchange(_ bytes: Data) async throws -> String {
        let socket = try await AsyncSocket.connected(to: .unix(path: socket))
        defer { try? socket.close() }
        try? await socket.write(bytes)
        var answer: [UInt8] = []
        while let piece = try? await socket.read(atMost: 4096) { answer += piece }
        return String(decoding: answer, as: UTF8.self)
    }

    func request(
        _ method: String, _ path: String, body: String? = nil, headers: [String] = []
    ) async throws -> (status: Int, body: String) {
        let length = body?.utf8.count ?? 0
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: device", "Connection: close", "Content-Length: \(length)"] + headers
        let answer = try await exchange(Data((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8))
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, parts.count > 1 ? String(parts[1]) : "")
    }
}

extension ControlServerFixture {
    func expect(
        _ status: Int, _ method: String, _ path: String, body: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await request(method, path, body: body)
        #expect(answer.status == status, sourceLocation: sourceLocation)
    }
}

extension String {
    /// The complaint's kind in a JSON body.
    var complaintKind: String? {
        (try? JSONDecoder().decode(Failure.self, from: Data(utf8)))?.complaint.kind
    }
}
