// A device in a program's hands: made, found, copied, ended.

import AppContainer
import Foundation
import Platform
import Testing

@Suite struct DeviceTests {
    private let app = "com.example.Notes"
    private let directory = Directory()

    @Test func `a device that was created stays, and is found again`() async throws {
        let created = try await Device.create(at: directory["phone"], passcode: "1234", kdfCost: 1)
        #expect(!created.isTemporary && created.passcode == "1234")
        #expect(try await created.status().state == "beforeFirstUnlock")
        try await created.unlock()
        try await created.install(notes)
        let found = try await Device.open(directory["phone"])
        #expect(found.path == created.path && found.passcode == nil)
        #expect(try await found.status().state == "unlocked")
        await created.end()
        let again = try await Device.open(directory["phone"])
        #expect(try await again.status().state == "beforeFirstUnlock")
        #expect(try await again.apps().map(\.identifier) == [app])
        await again.end()
    }

    @Test func `a lasting device that was shut down is started by the next request`() async throws {
        let device = try await Device.create(at: directory["phone"])
        let first = try await device.status().daemon.pid
        await device.end()
        await device.end()
        let second = try await device.status().daemon.pid
        #expect(first != nil && second != nil && first != second)
        await device.end()
    }

    @Test func `a temporary device is gone after its end`() async throws {
        let device = try await Device.temporary()
        #expect(device.isTemporary && device.passcode == nil)
        try await device.install(notes)
        let mount = try await device.mount(app)
        #expect(try FileManager.default.contentsOfDirectory(atPath: mount.mountPoint).contains("Notes.app"))
        await device.end()
        #expect(!FileManager.default.fileExists(atPath: device.path))
        #expect(!FileManager.default.fileExists(atPath: mount.mountPoint))
        await expect(kind: .daemonUnreachable, saying: "the temporary device \(device.path) is gone") {
            _ = try await device.status()
        }
        await expect(kind: .daemonUnreachable, saying: "the temporary device \(device.path) is gone") {
            for try await _ in device.events {}
        }
        await device.end()
    }

    @Test func `a temporary device is gone after its end though its process was killed`() async throws {
        let device = try await Device.temporary()
        try await device.install(notes)
        let home = try await device.mount(app).mountPoint
        let pid = try #require(try await device.status().daemon.pid)
        #expect(kill(pid, SIGKILL) == 0)
        await device.end()
        #expect(!FileManager.default.fileExists(atPath: device.path))
        let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(!mounts.contains(home) && !FileManager.default.fileExists(atPath: home))
    }

    @Test func `a further control socket is for the device, and nothing of the host`() async throws {
        try await Device.withTemporary { device in
            let socket = directory["further"]
            try await device.openControlSocket(at: socket, for: getuid())
            for length in [200, 256] {
                let long = directory[String(repeating: "0", count: length)]
                await expect(kind: .badRequest, saying: "File name too long") {
                    try await device.openControlSocket(at: long, for: getuid())
                }
            }
            let further = DeviceClient(socket: socket)
            #expect(try await further.status().device == device.path)
            await expect(kind: .notAllowed, saying: "is not for this control socket") {
                _ = try await further.send(UnmountRequest(mountPoint: directory.path, lazy: true))
            }
            try await device.closeControlSocket(at: socket)
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test func `a mount has the transport that was asked for`() async throws {
        try await Device.withTemporary { device in
            try await device.install(notes)
            let mount = try await device.mount(app, transport: .devFuse)
            #expect(mount.transport == .devFuse)
            #expect(try await device.status().mounts == [mount])
        }
    }

    @Test func `a temporary device goes with what was put into its directory`() async throws {
        let device = try await Device.temporary()
        try Data().write(to: URL(filePath: device.path + "/stranger"))
        await device.end()
        #expect(!FileManager.default.fileExists(atPath: device.path))
    }

    @Test func `a temporary device goes with the last reference to it`() async throws {
        var device: Device? = try await Device.temporary()
        let path = try #require(device?.path)
        let pid = try #require(try await device?.status().daemon.pid)
        let process = try #require(ProcessBox(pid))
        device = nil
        #expect(process.ends())
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a device for one piece of work is gone afterwards, also after an error`() async throws {
        struct Stop: Error {}
        var path = ""
        await #expect(throws: Stop.self) {
            try await Device.withTemporary(passcode: "1234") { device in
                path = device.path
                #expect(FileManager.default.fileExists(atPath: path))
                throw Stop()
            }
        }
        #expect(!path.isEmpty && !FileManager.default.fileExists(atPath: path))
    }

    @Test func `copies of a template have its apps, and no part in each other`() async throws {
        let template = try await Device.Template(
            passcode: "1234", installing: [.init(notes, groups: ["group.com.example.notes"])])
        #expect(template.apps.map(\.identifier) == [app])
        let devices = try await withThrowingTaskGroup(of: Device.self) { group in
            for _ in 0..<8 { group.addTask { try await template.device() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await template.end()
        #expect(!FileManager.default.fileExists(atPath: template.path))
        #expect(Set(devices.map(\.path)).count == 8)
        var identifiers: Set<String> = []
        for (number, device) in devices.enumerated() {
            identifiers.insert(try await device.status().identifier)
            try await device.unlock()
            let home = try await device.mount(app).mountPoint
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/Documents").isEmpty)
            try Data("\(number)".utf8).write(to: URL(filePath: "\(home)/Groups/group.com.example.notes/number"))
        }
        #expect(identifiers.count == 8)
        for device in devices { await device.end() }
    }

    @Test func `events come as they happen, and end with the device`() async throws {
        let device = try await Device.temporary(passcode: "1234")
        try await device.unlock()
        let (seen, report) = AsyncStream.makeStream(of: Event.Name.self)
        let names = Task {
            defer { report.finish() }
            var names: [Event.Name] = []
            for try await event in device.events {
                names.append(event.event)
                report.yield(event.event)
            }
            return names
        }
        // The device does not end before it is followed.
        for await name in seen where name == .unlocked { break }
        for try await event in device.events where event.event == .unlocked { break }
        try await device.lock()
        for try await event in device.events where event.event == .locked { break }
        let sofar = try await device.recordedEvents().map(\.event)
        #expect(sofar.contains(.willBecomeUnavailable) && sofar.last == .locked)
        try await device.client.shutdown()
        #expect(try await Array(names.value.prefix(sofar.count)) == sofar)
        await device.end()
    }

    @Test func `a file's class and mark can be set and taken away`() async throws {
        try await Device.withTemporary(passcode: "1234") { device in
            try await device.unlock()
            try await device.install(notes)
            let home = try await device.mount(app).mountPoint
            try Data("a".utf8).write(to: URL(filePath: "\(home)/Documents/a"))
            try await device.setProtection(.complete, of: "Documents/a", in: app)
            #expect(try await device.inspect("Documents/a", of: app).protection == FileProtection.complete.rawValue)
            try await device.setProtection(nil, of: "Documents/a", in: app)
            try await device.setProtection(nil, of: "Documents/a", in: app)
            let standard = FileProtection.completeUntilFirstUserAuthentication.rawValue
            #expect(try await device.inspect("Documents/a", of: app).protection == standard)
            try await device.exclude("Documents/a", of: app)
            #expect(try await device.backupList().first { $0.path == "Documents/a" }?.leftOut == .excluded)
            try await device.include("Documents/a", of: app)
            #expect(try await device.backupList().first { $0.path == "Documents/a" }?.leftOut == .some(nil))
        }
    }

    @Test func `a backup waits on another device for its app`() async throws {
        let (backup, app) = (directory["backup.tar"], app)
        try await Device.withTemporary { device in
            try await device.install(notes)
            let home = try await device.mount(app).mountPoint
            try Data("hello".utf8).write(to: URL(filePath: "\(home)/Documents/hello"))
            #expect(try await device.backup(to: backup).files > 0)
        }
        try await Device.withTemporary { other in
            try await other.restore(from: backup)
            #expect(try await other.status().waiting == [app])
            try await other.install(notes)
            let home = try await other.mount(app).mountPoint
            #expect(try String(contentsOfFile: "\(home)/Documents/hello", encoding: .utf8) == "hello")
        }
    }
}

/// A directory of the host for one test, gone when the test is over.
final class Directory: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "appcontainer-test-\(UUID())").path

    init() {
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    subscript(_ name: String) -> String { "\(path)/\(name)" }
}
