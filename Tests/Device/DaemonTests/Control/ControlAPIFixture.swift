// A control server on a socket of its own, and plain HTTP to it, as a client in any language would speak.

import AppContainer
import ControlServer
import Foundation
import Logging
import Platform
import Synchronization
import Testing

@testable import Daemon

struct ControlAPIFixture {
    let device = FakeDevice()
    let socket: String
    let server: ControlAPI
    let ended: AsyncStream<Void>
    let log = CollectedLog()

    init(limits: ConnectionLimits = ControlAPI.limits) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "control-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        socket = directory.path + "/s"
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        self.ended = ended
        let logger = Logger(label: "test") { [log] _ in log }
        server = ControlAPI(socket: socket, device: device, log: logger, limits: limits) { end.finish() }
        try await server.start()
    }

    static func run(
        limits: ConnectionLimits = ControlAPI.limits, _ body: (ControlAPIFixture) async throws -> Void
    ) async throws {
        let fixture = try await ControlAPIFixture(limits: limits)
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
    /// - Parameter halfClosing: says before reading that no more will come.
    func exchange(_ bytes: Data, halfClosing: Bool = false) async throws -> String {
        let connection = try LocalConnection(to: socket)
        try? await connection.write(Array(bytes))
        if halfClosing { try connection.closeWriting() }
        return try await withTimeLimit {
            var answer: [UInt8] = []
            while let piece = try? await connection.read(atMost: 4096), !piece.isEmpty { answer += piece }
            return String(decoding: answer, as: UTF8.self)
        }
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

/// The lines that a server has logged.
final class CollectedLog: LogHandler {
    private let collected = Mutex<[String]>([])

    var lines: [String] { collected.withLock { $0 } }

    func log(event: LogEvent) {
        collected.withLock { $0.append("\(event.message)") }
    }

    var logLevel: Logger.Level {
        get { .info }
        set {}
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
}

extension ControlAPIFixture {
    func expect(
        _ status: Int, _ method: String, _ path: String, body: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await request(method, path, body: body)
        #expect(answer.status == status, sourceLocation: sourceLocation)
    }
}

extension String {
    /// The complaint in a JSON body, or in a whole answer.
    var complaint: DeviceError? {
        let body = range(of: "\r\n\r\n").map { String(self[$0.upperBound...]) } ?? self
        return (try? JSONDecoder().decode(Failure.self, from: Data(body.utf8)))?.complaint
    }

    var complaintKind: String? { complaint?.kind.rawValue }
}

struct TookTooLong: Error {
    let what: String
}

/// - Parameter what: what is waited for.
/// - Throws: ``TookTooLong`` where it has not come after half a minute.
func withTimeLimit<Value: Sendable>(
    for what: String = "an answer", _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: .seconds(30))
            throw TookTooLong(what: what)
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw TookTooLong(what: what) }
        return value
    }
}
