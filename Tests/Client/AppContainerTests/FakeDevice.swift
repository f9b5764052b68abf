// Something at a control socket that answers one request, and need not be a device.

import FlyingSocks
import Foundation

struct FakeDevice {
    /// The path of its socket.
    let socket: String

    /// - Parameter answer: all that is sent to who connects first, when he has asked.
    init(answering answer: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "fake-\(UInt64.random(in: 0 ... .max))").path
        let listener = try Socket(domain: Int32(sa_family_t(AF_UNIX)))
        try listener.bind(to: sockaddr_un.unix(path: path))
        try listener.listen()
        socket = path
        Thread.detachNewThread {
            let connection = (try? listener.accept()).map { Socket(file: $0.file) }
            var asked: [UInt8] = []
            while !asked.ends(with: "\r\n\r\n".utf8), let byte = try? connection?.read() { asked.append(byte) }
            _ = try? connection?.write(Data(answer.utf8))
            try? connection?.close()
            try? listener.close()
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
