// Tests of a control socket with no device behind it, or an unknown one: the error that a program gets.

import AppContainer
import Foundation
import Testing

@Suite struct ControlConnectionTests {
    private let version = "appcontainer/\(AppContainer.version)"

    private func complaint(of socket: String) async throws -> DeviceError {
        try #require(
            await #expect(throws: DeviceError.self) { _ = try await DeviceClient(socket: socket).status() })
    }

    @Test func `a missing socket, or one without a listener, is an unreachable device`() async throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "no-socket-\(UUID())").path
        for path in [place, "/dev/null"] {
            let error = try await complaint(of: path)
            #expect(error.kind == .daemonUnreachable && error.message.hasPrefix("nobody answers at \(path)"))
        }
    }

    @Test func `a connection that fails otherwise is not taken for a device that is off`() async throws {
        let error = try await complaint(of: "/" + String(repeating: "a", count: 200))
        #expect(error.kind == .unexpected && error.message.hasSuffix("File name too long"), "\(error)")
    }

    @Test func `a connection that nobody takes leaves nothing open`() async throws {
        let before = try openFiles()
        for _ in 0..<1000 { _ = try await complaint(of: "/dev/null") }
        // Tests beside this one have files open as well, but not hundreds.
        #expect(try openFiles() < before + 500)
    }

    @Test func `a server of another protocol is not a device`() async throws {
        let error = try await complaint(of: try FakeDevice(answering: "SSH-2.0-OpenSSH_9.2\r\n").socket)
        #expect(error.kind == .daemonUnreachable && error.message.hasSuffix("is not a device"))
    }

    @Test func `a device of another version is named with its version and this one's`() async throws {
        for status in ["200 OK", "404 Not Found"] {
            let body = status.hasPrefix("2") ? "{}" : #"{"complaint":{"kind":"notFound","message":"no such path"}}"#
            let error = try await complaint(
                of: try FakeDevice(status: status, server: "appcontainer/99.0.0", body: body).socket)
            #expect(error.kind == .otherVersion)
            #expect(error.message.contains("appcontainer/99.0.0") && error.message.contains(version))
        }
    }

    @Test func `an answer that cannot be read of a device of this version is nobody's version's fault`() async throws {
        let error = try await complaint(of: try FakeDevice(server: version, body: "{}").socket)
        #expect(error.kind == .unexpected && error.message.contains(version), "\(error)")
    }

    @Test func `a device that ends in the middle of its answer has ended`() async throws {
        let error = try await complaint(
            of: try FakeDevice(answering: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{").socket)
        #expect(error.kind == .daemonEnded)
    }

    private func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
