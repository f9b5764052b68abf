// Tests of the control API's answers to good and bad requests.

import AppContainer
import BackingStore
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Daemon

@Suite struct ControlAPITests {
    @Test func `a query is answered with one JSON object`() async throws {
        try await ControlAPIFixture.run { fixture in
            let (status, body) = try await fixture.request("GET", "/v1/status")
            #expect(status == 200)
            #expect(try JSONDecoder().decode(DeviceStatus.self, from: Data(body.utf8)).state == "unlocked")
        }
    }

    @Test(arguments: ["/", "/v1", "/v1/", "/v1/nothing", "/v2/status", "/v1/status/more", "/v1/../v1/nothing"])
    func `an unknown path is answered with 404`(path: String) async throws {
        try await ControlAPIFixture.run { fixture in
            let (status, body) = try await fixture.request("GET", path)
            #expect(status == 404)
            #expect(body.complaintKind == "notFound")
        }
    }

    @Test func `a method that the path does not have is answered with 405`() async throws {
        try await ControlAPIFixture.run { fixture in
            try await fixture.expect(405, "GET", "/v1/shutdown")
            try await fixture.expect(405, "HEAD", "/v1/shutdown")
            try await fixture.expect(405, "POST", "/v1/status", body: "{}")
            for method in ["PUT", "DELETE", "PATCH", "TRACE"] {
                let answer = try await fixture.exchange(Data("\(method) /v1/status HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.contains("\r\nAllow: GET, HEAD, OPTIONS\r\n"))
                #expect(answer.complaintKind == "badRequest")
            }
            #expect(fixture.device.calls.withLock { $0 }.isEmpty)
        }
    }

    @Test func `OPTIONS is answered with the methods of a path, and does nothing`() async throws {
        try await ControlAPIFixture.run { fixture in
            for (path, methods) in [
                ("/v1/status", "GET, HEAD, OPTIONS"), ("/v1/shutdown", "POST, OPTIONS"),
                ("*", "GET, HEAD, OPTIONS, POST"),
            ] {
                let answer = try await fixture.exchange(Data("OPTIONS \(path) HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                #expect(answer.hasPrefix("HTTP/1.1 204 ") && answer.contains("\r\nAllow: \(methods)\r\n"), "\(answer)")
                #expect(answer.hasSuffix("\r\n\r\n") && !answer.contains("Transfer-Encoding"), "\(answer)")
            }
            try await fixture.expect(404, "OPTIONS", "/v1/nothing")
            #expect(fixture.device.calls.withLock { $0 }.isEmpty)
        }
    }

    @Test(arguments: ["/v1/status", "/v1/events/follow", "/v1/nothing"])
    func `HEAD is answered as GET is, without the body`(path: String) async throws {
        try await ControlAPIFixture.run { fixture in
            var heads: [String] = []
            for method in ["HEAD", "GET"] {
                let answer = try await fixture.exchange(Data("\(method) \(path) HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                let end = try #require(answer.range(of: "\r\n\r\n")?.upperBound)
                #expect(method == "GET" || end == answer.endIndex, "\(answer)")
                heads.append(String(answer[..<end]))
            }
            #expect(heads[0] == heads[1])
        }
    }

    @Test(arguments: [
        ("shutdown", "[]", "not a JSON object"), ("restart", "5", "not a JSON object"),
        ("install", "", "\"app\" is missing"), ("install", "{", "not JSON"), ("install", "[]", "not a JSON object"),
        ("install", "{\"app\": 5}", "\"app\" is not of the right type"), ("unlock", "{}", "\"passcode\" is missing"),
        ("mount", "{\"app\": null}", "\"app\""), ("mount", "\u{0}\u{1}", "not JSON"),
        ("mount", "{\"app\": \"a\", \"mountPoint\": \"b\"}", "mountPoint has to be an absolute path"),
        ("mount", "{\"app\": \"a\", \"mountPoint\": \"/b\\u0000c\"}", "mountPoint must not hold a NUL character"),
        ("mount", "{\"app\": \"a\", \"transport\": \"pigeon\"}", "\"transport\" is not auto, dev-fuse or io-uring"),
        ("unmount", "{\"mountPoint\": \"b\"}", "mountPoint has to be an absolute path"),
        ("unmount", "{\"mountPoint\": \"/b\\u0000\"}", "mountPoint must not hold a NUL character"),
        ("mount-end", "{\"mountPoint\": \"./b\"}", "mountPoint has to be an absolute path"),
        ("mount-end", "{\"mountPoint\": \"\"}", "mountPoint is empty, and names nothing"),
        ("deliver", "{\"app\": \"a\", \"files\": []}", "files is empty"),
        ("run-process", "{\"lease\": 1, \"pid\": 0}", "pid is not the number of a process"),
        ("run-process", "{\"lease\": 1, \"pid\": 2, \"supervisor\": -1}", "supervisor is not the number of a process"),
        ("capacity", "{\"capacity\": 1048575}", "a capacity is from 1M to 1E"),
        ("capacity", "{\"capacity\": 1152921504606846977}", "a capacity is from 1M to 1E"),
        ("capacity", "{\"capacity\": 2000000, \"hostCapacity\": true}", "exclude each other"),
        ("capacity", "{\"highWater\": 100.5}", "\"highWater\" is not a percentage from 0 to 100"),
        ("install", "{\"app\": \"Notes.app\"}", "app has to be an absolute path"),
        ("install", "{\"app\": \"/Notes.app\\u0000\"}", "app must not hold a NUL character"),
        ("install", "{\"app\": \"/Notes.app\", \"owner\": -1}", "\"owner\" is not a user id"),
        ("install", "{\"app\": \"/Notes.app\", \"owner\": 4294967295}", "\"owner\" is not a user id"),
        ("install", "{\"app\": \"/Notes.app\", \"owner\": 1.5}", "\"owner\" is not a user id"),
        ("install", "{\"app\": \"/Notes.app\", \"owner\": 1, \"ownerGroup\": -1}", "\"ownerGroup\" is not a group id"),
        ("deliver", "{\"app\": \"a\", \"files\": [\"/a\", \"b\"]}", "each of files has to be an absolute path"),
        ("deliver", "{\"app\": \"a\", \"files\": [\"/a\\u0000\"]}", "each of files must not hold a NUL character"),
        ("inspect", "{\"app\": \"a\", \"path\": \"Documents\\u0000\"}", "path must not hold a NUL character"),
        ("inspect", "{\"app\": \"a\", \"path\": \"\", \"pathBytes\": \"\\u0084\"}", "are not bytes in base64"),
    ])
    func `a wrong body is answered with its error`(path: String, body: String, words: String) async throws {
        try await ControlAPIFixture.run { fixture in
            let (status, answer) = try await fixture.request("POST", "/v1/\(path)", body: body)
            #expect(status == 400)
            let complaint = try JSONDecoder().decode(Failure.self, from: Data(answer.utf8)).complaint
            #expect(complaint.kind == .badRequest)
            #expect(complaint.message.contains(words), "\(complaint.message)")
        }
    }

    @Test(arguments: ["a", "YQ", "-_==", "\u{84}"])
    func `the bytes of a path are base64 in every request`(text: String) throws {
        func refusal<Request: ControlRequest>(_ type: Request.Type, _ text: String) -> Complaint? {
            let body = #"{"app": "a", "path": "", "pathBytes": "\#(text)"}"#
            return complaint { _ = try ControlJSON.request(type, from: Array(body.utf8)) }
        }
        for type in [
            FilesRequest.self, InspectRequest.self, ExcludeRequest.self, IncludeRequest.self, ProtectRequest.self,
        ] as [any ControlRequest.Type] {
            #expect(refusal(type, text)?.kind == .badRequest, "\(type)")
            #expect(refusal(type, "YQ==") == nil, "\(type)")
        }
    }

    @Test(arguments: [
        (#"{"action": "set", "old": "a", "new": "b"}"#, "set takes no \"old\""),
        (#"{"action": "set"}"#, "set needs \"new\""), (#"{"action": "change", "new": "b"}"#, "change needs \"old\""),
        (#"{"action": "change", "old": "b"}"#, "change needs \"new\""),
        (#"{"action": "remove"}"#, "remove needs \"old\""),
        (#"{"action": "remove", "old": "a", "new": "b"}"#, "remove takes no \"new\""),
    ])
    func `a backup password that an action lacks, or does not take, is refused`(body: String, words: String) throws {
        let refusal = complaint { _ = try ControlJSON.request(BackupPasswordRequest.self, from: Array(body.utf8)) }
        #expect(refusal == Complaint(.badRequest, "backup-password: \(words)"))
    }

    @Test func `a request is checked by the limits of a device`() throws {
        let capacities = DeviceSettings.capacities
        for capacity in [capacities.lowerBound, capacities.upperBound] {
            try CapacityRequest(capacity: capacity).check()
        }
        for capacity in [capacities.lowerBound - 1, capacities.upperBound + 1] {
            #expect(throws: DeviceError.self) { try CapacityRequest(capacity: capacity).check() }
        }
        for pid: Int32 in [0, -1] {
            #expect(throws: DeviceError.self) { try BeginBackgroundTaskRequest(app: "a", pid: pid).check() }
            #expect(throws: DeviceError.self) { try SuspensionRehearsalRequest(app: "a", pid: pid).check() }
        }
    }

    @Test(arguments: [
        ("", "is empty"), ("abc\r", "ends with a carriage return"), ("a\nb", "is more than one line"),
        ("a\r\n", "is more than one line"),
    ])
    func `a password that no first line of a file can be is refused with the reason`(text: String, words: String) {
        let passcode = #expect(throws: DeviceError.self) { try PasscodeRequest(.set, new: text).check() }
        let password = #expect(throws: DeviceError.self) { try BackupPasswordRequest(.set, new: text).check() }
        for error in [passcode, password] {
            #expect(error?.kind == .invalidPasscode && error?.message.contains(words) == true)
        }
    }

    @Test func `a body that is too large is refused, and the next request is answered`() async throws {
        try await ControlAPIFixture.run { fixture in
            let body = "{\"app\": \"" + String(repeating: "a", count: ControlPath.largestBody) + "\"}"
            let (status, answer) = try await fixture.request("POST", "/v1/install", body: body)
            #expect(status == 413)
            #expect(answer.complaintKind == "badRequest")
            let chunk = String(ControlPath.largestBody * 2, radix: 16)
            let text =
                "POST /v1/install HTTP/1.1\r\nHost: d\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\r\n"
                + String(repeating: "b", count: ControlPath.largestBody * 2) + "\r\n0\r\n\r\n"
            let second = try await fixture.exchange(Data(text.utf8))
            #expect(second.hasPrefix("HTTP/1.1 413 "))
            #expect(fixture.device.calls.withLock { $0 }.isEmpty)
            try await fixture.expect(200, "GET", "/v1/status")
        }
    }

    @Test func `an answer tells clients that would keep the connection that it is closed`() async throws {
        try await ControlAPIFixture.run { fixture in
            for path in ["/v1/status", "/v1/nothing", "/v1/events/follow?since=x"] {
                let answer = try await fixture.exchange(Data("GET \(path) HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
                #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
            }
        }
    }

    @Test func `bytes that are not HTTP do no harm`() async throws {
        try await ControlAPIFixture.run { fixture in
            for bytes in [Data("hello\n".utf8), Data([0, 255, 10, 13, 10]), Data("GET\r\n\r\n".utf8), Data()] {
                try? await LocalConnection(to: fixture.socket).write(Array(bytes))
            }
            let text = "POST /v1/install HTTP/1.1\r\nContent-Length: -1\r\n\r\n"
            _ = try await fixture.exchange(Data(text.utf8))
            try await fixture.expect(200, "GET", "/v1/status")
        }
    }

    @Test(arguments: [
        "hello\r\n\r\n", "GET /v1/status\r\n\r\n", "GET /v1/status HTTP/2.0\r\n\r\n",
        "POST /v1/install HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        "POST /v1/install HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /v1/install HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        "GET /v1/status HTTP/1.1\r\nno colon\r\n\r\n",
    ])
    func `text that is not a request is answered with 400`(text: String) async throws {
        try await ControlAPIFixture.run { fixture in
            let answer = try await fixture.exchange(Data(text.utf8))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.contains("\"kind\":\"badRequest\""))
        }
    }

    @Test func `a head without an end is refused at once`() async throws {
        try await ControlAPIFixture.run { fixture in
            let begin = ContinuousClock.now
            let text = "GET /v1/status HTTP/1.1\r\nX-Long: " + String(repeating: "a", count: 3_000_000)
            let answer = try await fixture.exchange(Data(text.utf8))
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(ContinuousClock.now - begin < .seconds(20))
            try await fixture.expect(200, "GET", "/v1/status")
        }
    }

    @Test func `a complaint is passed on with its kind`() async throws {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            let error = await #expect(throws: DeviceError.self) {
                _ = try await client.send(UninstallRequest(app: "com.example.Notes"))
            }
            #expect(error == DeviceError(.inUse, "com.example.Notes is mounted"))
            try await fixture.expect(409, "POST", "/v1/uninstall", body: "{\"app\": \"x\"}")
        }
    }

    @Test func `a request that names another device is refused, and not carried out`() async throws {
        try await ControlAPIFixture.run { fixture in
            let named = DeviceClient(socket: fixture.socket, identifier: "ID")
            _ = try await named.status()
            let other = DeviceClient(socket: fixture.socket, identifier: "ANOTHER")
            let error = await #expect(throws: DeviceError.self) {
                _ = try await other.send(UninstallRequest(app: "com.example.Notes"))
            }
            #expect(error?.kind == .daemonUnreachable)
            #expect(fixture.device.calls.withLock { $0 } == ["status"])
            let answer = try await fixture.exchange(
                Data("GET /v1/status HTTP/1.1\r\nHost: d\r\nDevice: X\r\n\r\n".utf8))
            #expect(answer.hasPrefix("HTTP/1.1 421 "))
        }
    }

    @Test func `progress comes before the result`() async throws {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            let seen = Mutex<[WorkProgress]>([])
            let app = try await client.send(InstallRequest(app: "/Notes.app")) { progress in
                seen.withLock { $0.append(progress) }
            }
            #expect(app == FakeDevice.app)
            #expect(seen.withLock { $0.first }?.activity == "installing")
            let error = await #expect(throws: DeviceError.self) {
                _ = try await client.send(InstallRequest(app: "/missing")) { _ in }
            }
            #expect(error?.kind == .notFound)
        }
    }

    @Test func `work is given up when its client has gone`() async throws {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            let task = Task { try await client.send(CheckRequest()) { _ in } }
            let device = fixture.device
            try await withTimeLimit(for: "a report") { try await device.reports.wait { $0 > 0 } }
            task.cancel()
            _ = await task.result
            try await withTimeLimit(for: "the end of the work") { try await device.wasCancelled.wait { $0 } }
        }
    }

    @Test func `a shutdown is answered before the service ends`() async throws {
        try await ControlAPIFixture.run { fixture in
            try await DeviceClient(socket: fixture.socket).shutdown()
            for await _ in fixture.ended {}
            #expect(fixture.device.calls.withLock { $0 } == ["shutdown"])
            let answers = await DeviceClient(socket: fixture.socket).isAnswering()
            #expect(!answers)
        }
    }

    @Test func `many clients are served at once`() async throws {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<64 {
                    group.addTask {
                        let request = MountRequest(
                            app: "com.example.App\(index)", mountPoint: "/m/\(index)", readOnly: true)
                        let mount = try await client.send(request)
                        #expect(mount.mountPoint == "/m/\(index)")
                        #expect(mount.readOnly)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a hundred requests that wait delay neither status nor unlock, and end with their clients`() async throws
    {
        try await ControlAPIFixture.run { fixture in
            let client = DeviceClient(socket: fixture.socket)
            let locks = (0..<100).map { _ in Task { try? await client.send(LockRequest()) } }
            let device = fixture.device
            try await withTimeLimit(for: "a hundred locks that wait") { try await device.waiting.wait { $0 == 100 } }
            let begun = ContinuousClock.now
            for _ in 0..<20 {
                _ = try await client.status()
                _ = try await client.send(UnlockRequest(passcode: "1234"))
            }
            #expect(ContinuousClock.now - begun < .seconds(5))
            #expect(device.waiting.value == 100)
            for lock in locks { lock.cancel() }
            try await withTimeLimit(for: "the end of the locks") { try await device.waiting.wait { $0 == 0 } }
        }
    }

    @Test func `the socket keeps other users out`() async throws {
        try await ControlAPIFixture.run { fixture in
            let status = try HostPath.status(fixture.socket)
            #expect(status.permissions == 0o600)
            #expect(status.kind == .socket)
        }
    }
}
