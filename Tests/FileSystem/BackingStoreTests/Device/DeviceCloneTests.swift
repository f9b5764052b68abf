// Cloning, erasing and deleting a device.

import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct DeviceCloneTests {
    let scratch = Scratch()

    @Test func `a clone is the device byte for byte, with another UUID`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let lock = try device.lock()
        var last: DeviceProgress?
        try device.clone(to: scratch["copy"], holding: lock) { progress in
            last = progress
            return true
        }
        try scratch.expectSameContent("copy", of: device)
        #expect(last?.completed == last?.total)
        #expect(scratch.names == ["copy", "device"])
    }

    @Test func `a clone that is cancelled or fails leaves nothing`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let lock = try device.lock()
        #expect(complaint { try device.clone(to: scratch["copy"], holding: lock) { _ in false } } == .cancelled)
        try shell("mkdir -p \(scratch["taken/x"])")
        #expect(complaint { try device.clone(to: scratch["taken"], holding: lock) }?.kind == .deviceExists)
        #expect(complaint { try device.clone(to: device.path, holding: lock) }?.kind == .deviceExists)
        #expect(scratch.names == ["device", "taken"])
    }

    @Test func `a clone goes across filesystems`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let memory = Scratch(under: "/dev/shm")
        let lock = try device.lock()
        try device.clone(to: memory["copy"], holding: lock)
        #expect(try listing(memory["copy/Containers"]) == listing(scratch["device/Containers"]))
        let blocks = try shell("du -s --block-size=1 \(memory["copy/Containers"])").split(separator: "\t")[0]
        #expect(Int(blocks)! < 2_000_000, "the holes were filled")
    }

    @Test func `an erased device has other keys, no apps, and its settings`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let oldKey = try HostPath.contents(scratch["device/UID.key"])
        let lock = try device.lock()
        try device.erase(holding: lock, makeKeybag: { (_) throws(Complaint) in [7] })
        #expect(try device.apps() == [])
        #expect(try device.keybag() == [7])
        #expect(try HostPath.contents(scratch["device/UID.key"]) != oldKey)
        #expect(try DeviceDirectory.open(at: device.path).uuid == device.uuid)
        #expect(try shell("cd \(device.path) && find Containers Staging -type f | wc -l") == "0\n")
        for kind in ContainerKind.allCases { _ = try device.containers(kind) }
        // The record of events names what was there; the log of the device's process does not.
        let names = try FileManager.default.contentsOfDirectory(atPath: device.path)
        #expect(!names.contains { $0.hasPrefix("Events") })
    }

    @Test(arguments: 0..<7)
    func `an erase that was interrupted is finished by the next that locks`(step: Int) throws {
        let (device, app) = try scratch.makeFullDevice()
        let uidKey = UIDKey()
        let authentication = RecordAuthentication(uidKey, device: device.uuid, isRequired: true)
        let record = authentication.sealed(try DeviceRecords.encode(device.record), "Device.json")
        let registry = authentication.sealed(try DeviceRecords.encode(AppRegistry()), "Apps.json")
        try shell("cd \(device.path) && mkdir Erasing && echo new > Erasing/Keybag")
        for (name, bytes) in [
            ("Erasing/UID.key", uidKey.exported()), ("Erasing/Device.json", record), ("new", registry),
        ] {
            try Data(bytes).write(to: URL(filePath: "\(device.path)/\(name)"))
        }
        let done = [
            "true", "mv new Apps.json", "mv Containers Staging/gone", "mv Erasing/Device.json Device.json",
            "mv Erasing/Keybag Keybag", "mv Erasing/UID.key UID.key", "mkdir -m 700 -p Containers/Bundle",
        ]
        try shell("cd \(device.path) && " + done[...step].joined(separator: " && "))
        let reopened = try DeviceDirectory.open(at: device.path)
        let lock = try reopened.lock()
        #expect(try reopened.apps() == [])
        #expect(try reopened.uidKey().exported() == uidKey.exported())
        #expect(try reopened.keybag() == Array("new\n".utf8))
        #expect(try DeviceDirectory.open(at: device.path).apps() == [])
        try shell("rm -f \(device.path)/new")
        try reopened.removeLeftovers(holding: lock)
        #expect(!FileManager.default.fileExists(atPath: "\(device.path)/Erasing"))
        #expect(!FileManager.default.fileExists(atPath: device.path(of: .data, app.data)))
        for kind in ContainerKind.allCases { _ = try device.containers(kind) }
    }

    @Test func `delete removes the device, and nothing that is not the device's`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let lock = try device.lock()
        try shell("touch \(device.path)/thesis.txt")
        #expect(complaint { try device.delete(holding: lock) }?.kind == .notAllowed)
        #expect(try device.apps().count == 1)
        try shell("rm \(device.path)/thesis.txt")
        #expect(complaint { try device.delete(holding: lock) { $0.completed < 3 } }?.kind == .unexpected)
        try DeviceDirectory.open(at: device.path).delete(holding: lock)
        #expect(scratch.names == [])
    }

    @Test func `delete removes the device that was opened, wherever its path leads by then`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let lock = try device.lock()
        try shell("mkdir \(scratch["empty"]); mv \(device.path) \(scratch["moved"]); ln -s empty \(device.path)")
        try device.delete(holding: lock)
        #expect(scratch.names.contains("empty") && !scratch.names.contains("moved"))
    }

    @Test func `a tree deeper than descriptors and paths allow is removed`() throws {
        let root = try Descriptor.open(path: scratch.path, flags: O_RDONLY | O_DIRECTORY)
        try root.makeDirectory("tree", mode: 0o700)
        var current = try root.openDirectory("tree")
        for _ in 0..<3000 {
            try current.makeDirectory("a-directory", mode: 0o700)
            try current.makeNode("file", mode: S_IFREG | 0o600)
            current = try current.openDirectory("a-directory")
        }
        var removed: Int64 = 0
        let finished = try root.removeTree("tree") { count in
            removed += count
            return true
        }
        #expect(finished)
        #expect(removed == 6001)
        #expect(scratch.names == [])
    }
}
