// Places to mount at, while another user renames directories above them.

import Foundation
import Glibc
import Platform
import SandboxModel
import Testing

@Suite struct MountPlaceTests {
    private let base = FileManager.default.temporaryDirectory.appending(path: "place-\(UUID().uuidString)").path

    @Test func `a path is resolved once`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: base + "/real/here", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: base + "/link", withDestinationPath: base + "/real")
        let place = try MountPlace(base + "/link/here")
        #expect(try place.path == HostPath.resolved(base) + "/real/here")
        #expect(place.mount() == nil)
        #expect(throws: SystemError(code: ENOENT)) { try MountPlace(base + "/none") }
        #expect(throws: SystemError(code: EBUSY)) { try MountPlace("/") }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
    func `a bind that is read-only leaves the directory as it is`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        for name in ["source", "here"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(name)", withIntermediateDirectories: true)
        }
        try HostMount.bindReadOnly(base + "/source", at: base + "/here")
        #expect(HostMount.isReadOnly(base + "/here"))
        #expect(!HostMount.isReadOnly(base + "/source"))
        #expect(!FileManager.default.createFile(atPath: base + "/here/mark", contents: nil))
        #expect(FileManager.default.createFile(atPath: base + "/source/mark", contents: nil))
        #expect(FileManager.default.fileExists(atPath: base + "/here/mark"))
        try HostMount.unmount(base + "/here")
        #expect(throws: SystemError.noEntry) { try HostMount.bindReadOnly(base + "/none", at: base + "/here") }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
    func `a mount is made, found and ended at the directory that was found, whatever lies at its path`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        for name in ["source", "parent/here", "trap/here"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(name)", withIntermediateDirectories: true)
        }
        #expect(FileManager.default.createFile(atPath: base + "/source/mark", contents: nil))
        let place = try MountPlace(base + "/parent/here")
        try FileManager.default.moveItem(atPath: base + "/parent", toPath: base + "/moved")
        try FileManager.default.createSymbolicLink(atPath: base + "/parent", withDestinationPath: base + "/trap")

        try HostMount.bind(base + "/source", at: place)
        #expect(FileManager.default.fileExists(atPath: base + "/moved/here/mark"))
        #expect(!FileManager.default.fileExists(atPath: base + "/trap/here/mark"))
        #expect(try place.mount()?.mountPoint == HostPath.resolved(base) + "/moved/here")

        // A mount that the other user's link leads to is not taken for this one.
        try HostMount.bind(base + "/source", at: base + "/trap/here")
        try HostMount.unmount(place.current)
        #expect(!FileManager.default.fileExists(atPath: base + "/moved/here/mark"))
        #expect(FileManager.default.fileExists(atPath: base + "/trap/here/mark"))
        try HostMount.unmount(base + "/trap/here")
    }

    @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
    func `a mount is known by a number of its own, as long as it is there`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        for name in ["source", "with space", "moved"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(name)", withIntermediateDirectories: true)
        }
        let place = try MountPlace(base + "/with space")
        try HostMount.bind(base + "/source", at: place)
        // Linux 6.8 brought it.
        guard let number = MountNumber(at: place) else { return try HostMount.unmount(place.current) }
        #expect(number.isSurelyAt(place.path))
        #expect(!number.isSurelyAt(base + "/moved"))
        try HostMount.bind(base + "/source", at: place)
        #expect(MountNumber(at: place) != number, "the one above it")
        #expect(number.isSurelyAt(place.path))
        try HostMount.unmount(place.current)
        try HostMount.unmount(place.current, .lazily)
        #expect(!number.isSurelyAt(place.path))
        try HostMount.bind(base + "/source", at: place)
        #expect(!number.isSurelyAt(place.path), "another one")
        try HostMount.unmount(place.current)
    }
}
