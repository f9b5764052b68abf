// Leases over the control socket: an answer that stays open, and what its end tells the device.

import AppContainer
import ControlServer
import Foundation
import SandboxModel
import Synchronization
import Testing

@testable import Daemon

@Suite struct RunRouteTests {
    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `a run is answered in lines only`() async throws {
        try await ControlAPIFixture.run { fixture in
            let (status, body) = try await fixture.request("POST", "/v1/run", body: #"{"app":"com.example.Notes"}"#)
            #expect(status == 400 && body.complaintKind == "badRequest")
            #expect(fixture.device.calls.withLock { $0 }.isEmpty)
        }
    }

    @Test func `the device hears at once that a client that ran an app has gone`() async throws {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            var lease: RunLease? = try await client.run(RunRequest(app: "com.example.Notes"))
            #expect(lease?.app.lease == 7 && lease?.app.mountPoint == "/mnt")
            #expect(fixture.device.calls.withLock { $0 } == ["run com.example.Notes"])
            lease = nil
            try await until { fixture.device.calls.withLock { $0 }.last == "departed" }
        }
    }

    @Test func `a lease tells of its process and of its end`() async throws {
        try await ControlAPIFixture.run { fixture in
            let lease = try await DeviceClient(socket: fixture.socket).run(RunRequest(app: "com.example.Notes"))
            try await lease.announce(42)
            await lease.end()
            #expect(fixture.device.calls.withLock { $0 } == ["run com.example.Notes", "process 42", "end 7"])
        }
    }

    @Test func `the answer ends when the device ends the lease`() async throws {
        try await ControlAPIFixture.run { fixture in
            let request = Task {
                try await fixture.request(
                    "POST", "/v1/run", body: #"{"app":"com.example.Notes"}"#,
                    headers: ["Accept: application/x-ndjson"])
            }
            try await until { !fixture.device.clients.withLock { $0 }.isEmpty }
            for client in fixture.device.clients.withLock({ $0 }) { client.occur() }
            let (status, body) = try await withTimeLimit { try await request.value }
            #expect(status == 200)
            let result = #"{"identifier":"com.example.Notes","isMountedToRun":false,"lease":7,"mountPoint":"/mnt"}"#
            #expect(body.contains(#"{"result":\#(result)}"#), "\(body)")
        }
    }
}
