// The probe of host filesystems, and the complaint about an unsuitable one.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite(.serialized) struct HostProbeTests {
    let scratch = Scratch()

    @Test(arguments: ["/var/tmp", "/dev/shm"])
    func `a disk and memory serve`(base: String) throws {
        let scratch = Scratch(under: base)
        let directory = try Descriptor.open(path: scratch.path, flags: O_RDONLY | O_DIRECTORY)
        #expect(try HostProbe.missingAbilities(in: directory) == [])
        #expect(scratch.names == [])
    }

    @Test func `the filesystem's type is known by its mount`() throws {
        let memory = try Descriptor.open(path: "/dev/shm", flags: O_RDONLY | O_DIRECTORY)
        #expect(HostProbe.filesystemType(of: memory) == "tmpfs")
        let proc = try Descriptor.open(path: "/proc/self", flags: O_RDONLY | O_DIRECTORY)
        #expect(HostProbe.filesystemType(of: proc) == "proc")
    }

    @Test(.enabled(if: isRoot, "an ordinary user has no permission there"))
    func `a filesystem that refuses directories is named`() {
        let failure = complaint { try DeviceDirectory.create(at: "/proc/device") { (_) throws(Complaint) in [] } }
        #expect(failure?.kind == .hostFilesystem)
        #expect(failure?.message.contains("(proc)") == true)
    }

    @Test(.enabled(if: isRoot, "mounting takes root"))
    func `a filesystem that lacks something is refused by name, and keeps nothing`() throws {
        let point = scratch["ramfs"]
        try shell("mkdir \(point) && mount -t ramfs none \(point)")
        defer { _ = try? shell("umount \(point)") }
        let failure = complaint { try DeviceDirectory.create(at: "\(point)/device") { (_) throws(Complaint) in [] } }
        #expect(failure?.kind == .hostFilesystem)
        #expect(failure?.message.contains("(ramfs)") == true)
        #expect(failure?.message.contains("user.* extended attributes") == true)
        #expect(failure?.message.contains("hole punching") == true)
        #expect(failure?.message.contains("\n") == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: point) == [])
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        #expect(
            complaint { try device.clone(to: "\(point)/copy", holding: lock) }
                == failure.map {
                    Complaint($0.kind, $0.message.replacingOccurrences(of: "/device ", with: "/copy "))
                })
        #expect(try FileManager.default.contentsOfDirectory(atPath: point) == [])
    }
}
