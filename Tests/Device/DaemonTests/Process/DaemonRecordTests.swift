// The record of who serves a device: written past what lies there, and believed no further than it can be.

import AppContainer
import BackingStore
import DeviceLifecycle
import Foundation
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite struct DaemonRecordTests {
    /// Makes a device, and removes it behind `body`.
    private func withDevice(_ body: (DeviceDirectory) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try StoredDevice.create(at: path, passcode: nil)
        try body(DeviceDirectory.open(at: path))
    }

    /// Root may serve a device whose directory is another user's, who could have it write over any file.
    @Test func `follows no link that lies where the record is made`() throws {
        try withDevice { device in
            let other = device.path + "/other"
            try "another's".write(toFile: other, atomically: false, encoding: .utf8)
            for name in ["daemon.json", "daemon.json.new", ".daemon.json.new"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(device.path)/\(name)", withDestinationPath: other)
            }
            try DaemonRecord(device: device, socket: "/run/s").write(to: device)
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "another's")
            #expect(DaemonRecord(of: device)?.socket == "/run/s")
        }
    }

    @Test(arguments: ["ln -s \"$0/real\" \"$1\"", "ln \"$0/real\" \"$1\"", "mkfifo \"$1\"", "mkdir \"$1\""])
    func `is believed only as a file of its own, and reading never waits`(_ making: String) throws {
        try withDevice { device in
            try DaemonRecord(device: device, socket: "/run/s").write(to: device)
            let record = device.path + "/daemon.json"
            try FileManager.default.moveItem(atPath: record, toPath: device.path + "/real")
            let shell = try Process.run(
                URL(filePath: "/bin/sh"), arguments: ["-c", making, device.path, record], terminationHandler: nil)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            #expect(DaemonRecord(of: device) == nil)
        }
    }

    @Test func `names a socket of this user, and of nobody else`() throws {
        let base = FileManager.default.temporaryDirectory.appending(path: "sockets-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: base) }
        for (name, mode) in [("own", 0o700), ("open", 0o711)] {
            try FileManager.default.createDirectory(
                atPath: "\(base)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        }
        try FileManager.default.createSymbolicLink(atPath: base + "/link", withDestinationPath: base + "/own")
        let name = "0123456789abcdef.sock"
        func isUsed(_ socket: String) throws -> Bool {
            var used = false
            try withDevice { used = try DaemonRecord(device: $0, socket: socket).ownSocket != nil }
            return used
        }
        let short = base.utf8.count + name.utf8.count + 5 <= ControlSockets.longestPath
        #expect(try isUsed("\(base)/own/\(name)") == short)
        for socket in [
            "open/\(name)", "link/\(name)", "own/control.sock", "own/0123456789abcde/.sock", "missing/\(name)",
        ] {
            #expect(try !isUsed("\(base)/\(socket)"), "\(socket)")
        }
    }
}
