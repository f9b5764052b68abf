// HTTP on a Unix socket and on loopback, with responses that are whole, that stream, and that wait.

import Foundation
import Glibc
import Platform
import SandboxModel
import Testing

@testable import ControlServer

@Suite struct HTTPServerTests {
    @Test func `a response has its length, and closes the connection`() async throws {
        try await EchoServer.run { server in
            let response = try await server.exchange(
                "POST /a?query HTTP/1.1\r\nHost: d\r\nAccept: text/x\r\nContent-Length: 4\r\n\r\nbody")
            #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(response.contains("\r\nX-Accept: text/x\r\n"))
            #expect(response.contains("\r\nContent-Length: 12\r\n"))
            #expect(response.hasSuffix("\r\n\r\nPOST /a body"))
        }
    }

    @Test func `the body of a request may come in chunks`() async throws {
        try await EchoServer.run { server in
            let response = try await server.exchange(
                "POST /a HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")
            #expect(response.hasSuffix("\r\n\r\nPOST /a body"))
        }
    }

    @Test func `pieces of a stream go out as they come`() async throws {
        try await EchoServer.run { server in
            let connection = try LocalConnection(to: server.path)
            try await connection.write(Array("GET /stream HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
            var received = ""
            while !received.contains("first ") {
                received += String(decoding: try await connection.read(atMost: 4096), as: UTF8.self)
            }
            server.responder.release()
            received += try await connection.text()
            #expect(received.contains("Transfer-Encoding: chunked") || received.contains("transfer-encoding: chunked"))
            #expect(received.contains("second") && received.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test func `a hundred requests that wait delay no other`() async throws {
        try await EchoServer.run { server in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await server.get("/wait") } }
                while server.responder.waiting < 100 { await Task.yield() }
                let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
                for _ in 0..<20 { #expect(try await server.get("/now").hasSuffix("GET /now ")) }
                #expect(threads < 60, "a thread for each request that waits")
                server.responder.release()
                for try await response in group { #expect(response.hasSuffix("waited")) }
            }
        }
    }

    @Test func `a client that goes is told to its request, at once`() async throws {
        try await EchoServer.run { server in
            var connection: LocalConnection? = try LocalConnection(to: server.path)
            try await connection?.write(Array("GET /wait HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
            while server.responder.waiting < 1 { await Task.yield() }
            connection = nil
            // The response is not owed any more.
            await server.server.drain()
            server.responder.release()
        }
    }

    @Test func `a socket is its user's alone, and a client that may not connect is told before it asks`() async throws {
        try await EchoServer.run(EchoResponder(refusing: .user(geteuid()))) { server in
            #expect(try HostPath.status(server.path).permissions == 0o600)
            let connection = try LocalConnection(to: server.path)
            #expect(try await connection.text().hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test func `it listens on loopback too, where a client is known by its user as well`() async throws {
        try await EchoServer.run(EchoResponder(refusing: .user(geteuid())), at: .loopback(port: 0)) { server in
            guard case .loopback(let port) = server.address else { throw SystemError(code: EINVAL) }
            #expect(port > 0)
            let python = try #require(
                try? Process.run(
                    URL(filePath: "/usr/bin/python3"),
                    arguments: [
                        "-c",
                        """
                        import urllib.request, urllib.error, sys
                        try: urllib.request.urlopen("http://127.0.0.1:\(port)/")
                        except urllib.error.HTTPError as error: sys.exit(error.code - 400)
                        """,
                    ]))
            await withCheckedContinuation { continuation in
                python.terminationHandler = { _ in continuation.resume() }
                if !python.isRunning { python.terminationHandler = nil }
            }
            #expect(python.terminationStatus == 3)
        }
    }

    @Test func `nothing is listened to where something is already`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/taken-\(UInt64.random(in: 0 ... .max))"
        try Data().write(to: URL(filePath: path))
        defer { try? HostPath.removeFile(path) }
        let server = HTTPServer(responder: EchoResponder(), limits: ConnectionLimits(body: 1)) { _ in }
        await #expect(throws: SystemError(code: EADDRINUSE)) { try await server.start(at: .unix(path: path)) }
        await server.stop()
    }
}
