// The record of who serves a device.

import Foundation
import Testing

@testable import Daemon

@Suite struct DaemonRecordTests {
    /// Root may serve a device whose directory is another user's, who could have it write over any file.
    @Test func `follows no link that lies where the record is made`() throws {
        let files = FileManager.default
        let device = files.temporaryDirectory.appending(path: "record-\(UUID().uuidString)").path
        try files.createDirectory(atPath: device, withIntermediateDirectories: true)
        defer { try? files.removeItem(atPath: device) }
        let other = device + "/other"
        try "another's".write(toFile: other, atomically: false, encoding: .utf8)
        for name in ["daemon.json", "daemon.json.new", ".daemon.json.new"] {
            try files.createSymbolicLink(atPath: "\(device)/\(name)", withDestinationPath: other)
        }
        try DaemonRecord(device: device, socket: "/run/s").write(to: device)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "another's")
        #expect(DaemonRecord(of: device)?.socket == "/run/s")
    }
}
