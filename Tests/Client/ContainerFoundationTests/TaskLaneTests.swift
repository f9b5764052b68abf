// Tests of the background tasks' way to a device, and of what an event says about the background.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import ContainerFoundation

/// Answers each request that begins or ends a task, after a while, and notes the paths.
private final class FakeDevice: Sendable {
    let device: HomeDevice
    private let requests = Monitor<[String]>([])
    private let socket: SharedDescriptor
    private let isOver = Monitor(false)

    /// - Parameter delay: seconds; nil for a device that takes requests and answers none.
    init(in place: Workplace, _ name: String, answeringAfter delay: Double?) throws {
        device = HomeDevice(socket: place(name).path, app: "com.example.Notes")
        socket = SharedDescriptor(try Descriptor.listening(atSocket: device.socket, permissions: 0o600))
        try HostThread(name: "fake") { [self] in
            var unanswered: [SharedDescriptor] = []
            while !isOver.access({ $0 }) {
                guard (try? socket.descriptor.waitUntilReadable(within: 20)) == true,
                    let connection = try? socket.descriptor.accept()
                else { continue }
                unanswered.append(connection)
                guard let delay, let path = FakeDevice.request(over: connection) else { continue }
                usleep(UInt32(delay * 1e6))
                requests.access { $0.append(path) }
                let body = path.contains("begin") ? #"{"task":7,"remaining":null}"# : "{}"
                let answer = "HTTP/1.1 200 OK\r\nServer: test\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                _ = try? connection.descriptor.send(Array(answer.utf8)[...])
            }
        }.detach()
    }

    func end() { isOver.access { $0 = true } }

    var paths: [String] { requests.access { $0 } }

    /// The last word of the path of a request, with its body read.
    private static func request(over connection: SharedDescriptor) -> String? {
        var text = ""
        while (try? connection.descriptor.waitUntilReadable(within: 10_000)) == true {
            guard let bytes = try? connection.descriptor.receive(atMost: 4096), !bytes.isEmpty else { return nil }
            text += String(decoding: bytes, as: UTF8.self)
            guard text.contains("\r\n\r\n"), text.hasSuffix("}") else { continue }
            return text.split(separator: " ").dropFirst().first?.split(separator: "/").last.map { String($0) }
        }
        return nil
    }
}

@Suite(.serialized) struct TaskLaneTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    private func seconds(_ body: () -> Void) -> Double {
        let begin = MonotonicClock.nanoseconds
        body()
        return Double(MonotonicClock.nanoseconds - begin) / 1e9
    }

    @Test func `a device knows of a task when the call returns, and of its end after that`() throws {
        let fake = try FakeDevice(in: place, "socket", answeringAfter: 0.2)
        defer { fake.end() }
        let lane = TaskLane { fake.device }
        lane.begin(1, name: "a")
        #expect(fake.paths.count == 1)
        lane.end(1)
        lane.begin(2, name: "b")
        #expect(fake.paths.count == 3)
        #expect(fake.paths.map { $0.contains("end") } == [false, true, false])
    }

    @Test func `the main actor may wait too`() async throws {
        let fake = try FakeDevice(in: place, "socket", answeringAfter: 0.1)
        defer { fake.end() }
        let lane = TaskLane { fake.device }
        await MainActor.run { lane.begin(1, name: "a") }
        #expect(fake.paths.count == 1)
    }

    @Test func `a device that does not answer costs one call a second, and no other device anything`() throws {
        let silent = try FakeDevice(in: place, "silent", answeringAfter: nil)
        let other = try FakeDevice(in: place, "other", answeringAfter: 0)
        defer { for fake in [silent, other] { fake.end() } }
        let slow = TaskLane { silent.device }
        let quick = TaskLane { other.device }
        let first = seconds { slow.begin(1, name: "a") }
        #expect(first > 0.9 && first < 10)
        #expect(seconds { for number in 2..<100 { slow.begin(number, name: "a") } } < 1)
        quick.begin(1, name: "b")
        #expect(other.paths.count == 1)
    }

    @Test func `without a device nobody waits`() {
        let lane = TaskLane { nil }
        #expect(seconds { for number in 1..<20 { lane.begin(number, name: "a") } } < 0.9)
    }

    /// As many tasks as there are threads for them, and more.
    @Test func `all threads of tasks may wait at once`() async throws {
        let fake = try FakeDevice(in: place, "socket", answeringAfter: 0)
        defer { fake.end() }
        let lane = TaskLane { fake.device }
        lane.begin(0, name: "a")
        let begin = MonotonicClock.nanoseconds
        await withTaskGroup(of: Void.self) { group in
            for number in 1...8 { group.addTask { lane.begin(number, name: "a") } }
        }
        #expect(Double(MonotonicClock.nanoseconds - begin) / 1e9 < 10)
        for _ in 0..<1000 where fake.paths.count < 9 { usleep(10_000) }
        #expect(fake.paths.count == 9)
    }

    @Test(
        arguments: [
            (nil, .zero), (30, .seconds(30)), (-1, .zero), (.infinity, .seconds(86_400)), (1e300, .seconds(86_400)),
            (.nan, .zero), (-.infinity, .zero),
        ] as [(Double?, Duration)])
    func `no event leaves an app more time than a day`(remaining: Double?, time: Duration) {
        #expect(LifecycleWatch.time(remaining: remaining) == time)
    }
}
