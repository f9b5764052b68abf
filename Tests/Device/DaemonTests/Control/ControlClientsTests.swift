// Clients that stop halfway, say nothing, or come in numbers: the control API outlives them and keeps nothing of them.

import AppContainer
import ControlServer
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Daemon

@Suite struct ControlClientsTests {
    @Test(arguments: [
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\nContent-Length: 50\r\n\r\n{\"",
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n{\"",
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\n", "",
    ])
    func `keeps no descriptor of a client that went away`(text: String) async throws {
        try await ControlAPIFixture.run { fixture in
            try await fixture.expect(200, "GET", "/v1/status")
            let before = try OpenFiles.count()
            for _ in 0..<50 {
                try? await LocalConnection(to: fixture.socket).write(Array(text.utf8))
            }
            try await eventually("the end of the clients' descriptors") { try OpenFiles.count() <= before }
        }
    }

    @Test(arguments: [
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\nContent-Length: 50\r\n\r\n{\"",
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n{\"",
        "POST /v1/unlock HTTP/1.1\r\nHost: d\r\n",
    ])
    func `answers a request that ends early with 400`(text: String) async throws {
        try await ControlAPIFixture.run { fixture in
            let answer = try await fixture.exchange(Data(text.utf8), halfClosing: true)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.complaint?.message == "the request ended early")
        }
    }

    @Test func `answers a client that has closed its half after a whole request`() async throws {
        try await ControlAPIFixture.run { fixture in
            let text = "GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n"
            let answer = try await fixture.exchange(Data(text.utf8), halfClosing: true)
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        }
    }

    @Test func `goes on accepting after descriptors ran out, and says so once`() async throws {
        try await ControlAPIFixture.run { fixture in
            try await fixture.expect(200, "GET", "/v1/status")
            try await fixture.withIdleClients(40, descriptorsLeft: 4) { sockets in
                // Accepted after all others, most of which have given way by then, and each could have been told of.
                let last = try #require(sockets.last)
                try await last.write(Array("GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                _ = try await withTimeLimit(for: "the last client's answer") { try await last.read(atMost: 4096) }
            }
            try await fixture.expect(200, "GET", "/v1/status")
            #expect(fixture.log.lines.filter { $0.contains("give way: Too many open files") }.count == 1)
        }
    }

    @Test func `answers while descriptors are short, and idle clients give way`() async throws {
        try await ControlAPIFixture.run { fixture in
            try await fixture.expect(200, "GET", "/v1/status")
            try await fixture.withIdleClients(40, descriptorsLeft: 4) { sockets in
                // The last one has a request.
                let last = try #require(sockets.last)
                try await last.write(Array("GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                let answer = try await withTimeLimit {
                    String(decoding: try await last.read(atMost: 4096), as: UTF8.self)
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            }
        }
    }

    @Test func `answers two clients that come at one time while descriptors are short`() async throws {
        try await ControlAPIFixture.run { fixture in
            try await fixture.expect(200, "GET", "/v1/status")
            try await fixture.withIdleClients(2, descriptorsLeft: 0) { clients in
                for client in clients {
                    try await client.write(Array("GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                    let answer = try await withTimeLimit { try await client.read(atMost: 4096) }
                    let text = String(decoding: answer, as: UTF8.self)
                    #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
                }
            }
        }
    }

    @Test(arguments: ["", "GET /v1/status HTTP/1.1\r\n", "POST /v1/unlock HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"])
    func `does not wait for ever for a request`(text: String) async throws {
        try await ControlAPIFixture.run(limits: limits { $0.time = .milliseconds(100) }) { fixture in
            let answer = try await fixture.exchange(Data(text.utf8))
            #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            #expect(answer.complaint?.message == "the request did not arrive in time")
        }
    }

    @Test func `lets the oldest of too many idle clients go`() async throws {
        try await ControlAPIFixture.run(limits: limits { $0.connections = 4 }) { fixture in
            let path = fixture.socket
            let clients = try (0..<12).map { _ in try LocalConnection(to: path) }
            try await fixture.expect(200, "GET", "/v1/status")
            let first = clients[0]
            let answer = try await withTimeLimit { try await first.read(atMost: 4096) }
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
            // The newest is served still.
            try await clients[11].write(Array("GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
            let last = clients[11]
            let served = try await withTimeLimit { try await last.read(atMost: 4096) }
            #expect(String(decoding: served, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
        }
    }
}

extension ControlAPIFixture {
    /// Connects clients that say nothing while hardly any descriptor is left for their other ends.
    fileprivate func withIdleClients(
        _ count: Int, descriptorsLeft: Int, _ body: ([LocalConnection]) async throws -> Void
    ) async throws {
        // Made before, since client and server are one process here; a connection needs no descriptor later.
        let sockets = try (0..<count).map { _ in SharedDescriptor(try Descriptor.localSocket()) }
        let connections = try sockets.map { try LocalConnection($0) }
        try await OpenFiles.withLimit(atMost: descriptorsLeft) {
            for client in sockets { try client.descriptor.connect(toSocket: socket) }
            try await body(connections)
        }
    }
}

/// The descriptors of this process.
enum OpenFiles {
    static func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Runs something while the process can open only so many files more before its reserve begins.
    static func withLimit(atMost more: Int, _ body: () async throws -> Void) async throws {
        let former = OpenFileLimit.current
        try OpenFileLimit.set(try count() + more + DescriptorReserve.size * 4)
        defer { try? OpenFileLimit.set(former) }
        // Descriptors are given lowest first, and some below the limit may have been free.
        var taken: [Int32] = []
        defer { for file in taken { close(file) } }
        while case let file = dup(0), file >= 0 { taken.append(file) }
        while let last = taken.last, DescriptorReserve.holds(last) { close(taken.removeLast()) }
        for file in taken.suffix(more) { close(file) }
        taken.removeLast(min(more, taken.count))
        try await body()
    }
}

/// The limits of the control API, one of them changed.
private func limits(_ change: (inout ConnectionLimits) -> Void) -> ConnectionLimits {
    var limits = ControlAPI.limits
    change(&limits)
    return limits
}
