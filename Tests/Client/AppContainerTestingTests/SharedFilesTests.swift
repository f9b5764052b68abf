// Classes that are changed by path, of files that are open through another app's mount, or after a lazy unmount.

import AppContainer
import Foundation
import Platform
import Testing

@Suite struct SharedFilesTests {
    private let app = "com.example.Notes"
    private let other = "com.example.Mail"
    private let group = "group.com.example.notes"
    private let directory = Directory()
    private let complete = "NSFileProtectionComplete"
    private let part = [UInt8](repeating: 7, count: 100_000)

    /// Two apps with one group, the first of which is mounted.
    private func withTwoApps(_ body: (Device, Mount) async throws -> Void) async throws {
        let mail = directory["Mail.app"]
        try FileManager.default.copyItem(atPath: notes, toPath: mail)
        let list = URL(filePath: mail + "/Info.plist")
        let text = try String(contentsOf: list, encoding: .utf8).replacingOccurrences(of: app, with: other)
        try Data(text.utf8).write(to: list)
        try await Device.withTemporary { device in
            for app in [notes, mail] { try await device.install(app, groups: [group]) }
            try await body(device, try await device.mount(app))
        }
    }

    private func begin(_ path: String, in mount: Mount) throws -> Descriptor {
        let file = try Descriptor.open(
            path: "\(mount.mountPoint)/\(path)", flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
        try file.append(part)
        return file
    }

    /// Writes more and closes the file, which was protected meanwhile; then it is looked at as it is stored.
    private func end(_ file: consuming Descriptor, _ path: String, of app: String, on device: Device) async throws {
        try file.append(part)
        try file.synchronize()
        _ = consume file
        for mount in try await device.status().mounts { try await device.unmount(mount) }
        let found = try await device.inspect(path, of: app)
        #expect(found.protection == complete && found.size == 2 * Int64(part.count))
        #expect(try await device.check().problems == [])
        let home = try await device.mount(app).mountPoint
        #expect(try HostPath.contents("\(home)/\(path)") == part + part)
    }

    @Test func `a class is changed through the mount of another app with the same group`() async throws {
        try await withTwoApps { device, mount in
            let path = "Groups/\(group)/log"
            let file = try begin(path, in: mount)
            _ = try await device.send(ProtectRequest(app: other, path: path, protection: .complete))
            #expect(try await device.inspect(path, of: app).protection == complete)
            try await end(file, path, of: other, on: device)
        }
    }

    @Test func `a class is changed of a file that is open after a lazy unmount`() async throws {
        try await withTwoApps { device, mount in
            let path = "Documents/log"
            let file = try begin(path, in: mount)
            try await device.unmount(mount, lazy: true)
            _ = try await device.send(ProtectRequest(app: app, path: path, protection: .complete))
            try await end(file, path, of: app, on: device)
        }
    }

    @Test func `beside a mount of the documents alone nothing else is changed`() async throws {
        try await withTwoApps { device, mount in
            for path in ["Documents/a", "Library/a"] {
                try Data().write(to: URL(filePath: "\(mount.mountPoint)/\(path)"))
            }
            try await device.unmount(mount)
            _ = try await device.mount(app, documents: true)
            _ = try await device.send(ExcludeRequest(app: app, path: "Documents/a"))
            await expect(kind: .inUse) { _ = try await device.send(ExcludeRequest(app: app, path: "Library/a")) }
        }
    }
}
