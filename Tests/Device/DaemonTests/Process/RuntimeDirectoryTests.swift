// Where sockets lie, and when a directory is not trusted.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite struct RuntimeDirectoryTests {
    @Test func `the socket's path is short, however long the device's is`() {
        let long = "/" + String(repeating: "device/", count: 400)
        let path = RuntimeDirectory.socketPath(in: "/run/appcontainer", device: long, identifier: "ID")
        #expect(path.utf8.count < 100)
        #expect(path.hasSuffix(".sock"))
    }

    @Test func `another place or another device is another socket`() {
        let paths = Set(
            [("/a", "1"), ("/b", "1"), ("/a", "2")].map { device, identifier in
                RuntimeDirectory.socketPath(in: "/run", device: device, identifier: identifier)
            })
        #expect(paths.count == 3)
        #expect(paths.contains(RuntimeDirectory.socketPath(in: "/run", device: "/a", identifier: "1")))
    }

    @Test func `root has its own; a user's is in XDG_RUNTIME_DIR, if that is the user's and short`() throws {
        let user = geteuid() + 1000
        #expect(ControlSockets.directories(of: 0, environment: [:]).first == "/run/appcontainer")
        #expect(ControlSockets.directories(of: user, environment: [:]) == ["/tmp/appcontainer-\(user)"])
        // The directory is somebody else's.
        #expect(ControlSockets.directories(of: user, environment: ["XDG_RUNTIME_DIR": "/tmp"]).count == 1)
        #expect(ControlSockets.directories(of: user, environment: ["XDG_RUNTIME_DIR": "run"]).count == 1)
    }

    @Test func `a link, a file or a directory that others can enter is not private`() throws {
        let base = FileManager.default.temporaryDirectory.appending(path: "runtime-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: base + "/own", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(
            atPath: base + "/open", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        try FileManager.default.createSymbolicLink(atPath: base + "/link", withDestinationPath: base + "/own")
        _ = FileManager.default.createFile(
            atPath: base + "/file", contents: nil, attributes: [.posixPermissions: 0o600])
        #expect(ControlSockets.isPrivate(base + "/own", user: geteuid()))
        #expect(!ControlSockets.isPrivate(base + "/own", user: geteuid() + 1))
        for name in ["open", "link", "file", "missing"] {
            #expect(!ControlSockets.isPrivate("\(base)/\(name)", user: geteuid()), "\(name)")
        }
    }
}
