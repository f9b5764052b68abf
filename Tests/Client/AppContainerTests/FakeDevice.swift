// Something at a control socket that answers one request, and need not be a device.

import Foundation
import Platform

struct FakeDevice {
    /// The path of its socket.
    let socket: String

    /// - Parameter answer: all that is sent to who connects first, when he has asked.
    init(answering answer: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "fake-\(UInt64.random(in: 0 ... .max))").path
        let listener = SharedDescriptor(try Descriptor.listening(atSocket: path, permissions: 0o600))
        socket = path
        Task {
            try await listener.waitUntilReady(for: .reading)
            let connection = try LocalConnection(listener.descriptor.accept())
            var asked: [UInt8] = []
            while !asked.ends(with: "\r\n\r\n".utf8) {
                let piece = try await connection.read(atMost: 4096)
                if piece.isEmpty { break }
                asked += piece
            }
            try await connection.write(Array(answer.utf8))
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// An answer of HTTP.
    init(status: String = "200 OK", server: String, body: String) throws {
        try self.init(
            answering: "HTTP/1.1 \(status)\r\nServer: \(server)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
}

extension [UInt8] {
    fileprivate func ends(with end: String.UTF8View) -> Bool { suffix(end.count).elementsEqual(end) }
}
