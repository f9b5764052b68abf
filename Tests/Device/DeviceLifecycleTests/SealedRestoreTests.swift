// Tests of ciphertext in backups: only what this device has written comes back, and never as a program.

import BackingStore
import BackupModel
import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct SealedRestoreTests {
    let base = BackupTests()
    var notes: ContainerIdentifier { base.notes }

    static let program = Array("#!/bin/sh\necho set-id program\n".utf8) + [UInt8](repeating: 0, count: 9000)
    static let path = "AppDomain-com.example.Notes/Documents/closed"

    /// A backup of a locked device, in which files of several sizes are ciphertext.
    private func sealedBackup() throws -> (BootedDevice, MemoryBackup) {
        let device = try base.make(passcode: "1234")
        try base.write(device, "Documents/closed", Array("secret".utf8), protection: .complete)
        try base.write(device, "Documents/empty", [], protection: .complete)
        let large = [UInt8](repeating: 7, count: 700_000)
        try base.write(device, "Documents/large", large, protection: .complete)
        try base.write(device, "Documents/sparse", [9], protection: .complete, length: 3 << 20, at: 1 << 20)
        device.beginLocking()
        device.closeToNew()
        device.takeKeys()
        return (device, try base.backUp(device).0)
    }

    /// The backup with another file in the place of the closed one.
    private func forged(_ backup: MemoryBackup, _ change: (inout MemoryBackup.Item) -> Void) throws -> MemoryBackup {
        let copy = MemoryBackup()
        (copy.apps, copy.items, copy.isFinished) = (backup.apps, backup.items, true)
        let index = try #require(copy.items.firstIndex { copy.path(of: $0.entry) == SealedRestoreTests.path })
        change(&copy.items[index])
        return copy
    }

    private func setContent(_ item: inout MemoryBackup.Item, _ bytes: [UInt8], keybag: [UInt8]) {
        item.entry.kind = .file(.sealed(length: Int64(bytes.count), keybag: keybag))
        item.pieces = [(0, bytes)]
    }

    @Test func `ciphertext of every form comes back as it was`() throws {
        let (device, backup) = try sealedBackup()
        _ = try base.restore(backup, onto: device)
        try device.open("1234")
        let documents = try base.data(device) + "/Documents/"
        #expect(try device.text(of: documents + "closed") == "secret")
        #expect(try device.content(of: documents + "empty") == [])
        #expect(try device.content(of: documents + "large") == [UInt8](repeating: 7, count: 700_000))
        let sparse = try device.content(of: documents + "sparse")
        #expect(sparse.count == 3 << 20 && sparse[1 << 20] == 9)
        #expect(try device.check().problems == [])
    }

    @Test func `what is no ciphertext of this device is refused, and leaves nothing`() throws {
        let (device, backup) = try sealedBackup()
        let before = base.scratch.containers
        let keybag = device.passcode.keybagIdentifier
        let content = try #require(backup.item(SealedRestoreTests.path)).content
        func with(_ place: Int, _ value: UInt8) -> [UInt8] {
            var bytes = content
            bytes[place] = value
            return bytes
        }
        let changes: [(String, (inout MemoryBackup.Item) -> Void)] = [
            ("a program", { setContent(&$0, SealedRestoreTests.program, keybag: keybag) }),
            ("without the proof", { setContent(&$0, Array(content.dropLast(32)), keybag: keybag) }),
            ("a changed block", { setContent(&$0, with(4096, content[4096] ^ 1), keybag: keybag) }),
            ("a changed header", { setContent(&$0, with(0, 0x7F), keybag: keybag) }),
            ("a changed proof", { setContent(&$0, with(content.count - 1, content.last! ^ 1), keybag: keybag) }),
            ("nothing", { setContent(&$0, [], keybag: keybag) }),
            ("more", { setContent(&$0, content + [0], keybag: keybag) }),
            ("a set-user-ID bit", { $0.entry.permissions |= 0o4000 }),
            ("another owner", { $0.entry.owner += 1 }),
            ("another class", { $0.entry.protection = ProtectionClass.none }),
            ("another name", { $0.entry.path = ["Documents", "cloned"] }),
        ]
        for (what, change) in changes {
            let complaint = complaint { _ = try base.restore(forged(backup, change), onto: device) }
            #expect(complaint?.kind == .invalidBackup, "\(what): \(complaint?.message ?? "accepted")")
            #expect(base.scratch.containers == before, "\(what)")
        }
        #expect(try shell("find '\(base.scratch.device)' -type f -perm /6000") == "")
    }

    @Test func `a proof does not help bytes that are no encrypted file`() throws {
        let (device, backup) = try sealedBackup()
        let before = base.scratch.containers
        let keybag = device.passcode.keybagIdentifier
        let content = try #require(backup.item(SealedRestoreTests.path)).content.dropLast(32)
        // The owner of a device has its key, and can prove anything.
        func proven(_ bytes: [UInt8]) throws -> MemoryBackup {
            try forged(backup) { item in
                setContent(&item, bytes + [UInt8](repeating: 0, count: 32), keybag: keybag)
                var origin = SealedOrigin(of: item.entry, key: try! device.sealedFileKey())
                bytes.withSpan { origin.add($0) }
                setContent(&item, bytes + origin.proof(), keybag: keybag)
            }
        }
        _ = try base.restore(proven(Array(content)), onto: device)
        let now = base.scratch.containers
        #expect(now == before)
        for place in [0, 4, 5, 12, 52, 54, 55, 63, 80, 122, 250, 256 + 29] {
            var bytes = Array(content)
            bytes[place] ^= 0xFF
            #expect(complaint { _ = try base.restore(proven(bytes), onto: device) }?.kind == .invalidBackup, "\(place)")
        }
        #expect(
            complaint { _ = try base.restore(proven(SealedRestoreTests.program), onto: device) }?.kind == .invalidBackup
        )
        #expect(base.scratch.containers == now)
    }

    @Test func `a check names a set-ID bit that somebody gave a backing file, and a repair takes it`() throws {
        let device = try base.make()
        try base.write(device, "Documents/note", [1])
        let file = try base.data(device) + "/Documents/note"
        try shell("chmod 6750 '\(file)'")
        let problems = try device.check().problems
        #expect(problems.map(\.path) == ["Documents/note"])
        #expect(problems.first?.message == FileStatus.setIDProblem)
        #expect(try device.check(repair: true).repaired.map(\.path) == ["Documents/note"])
        #expect(try device.check().problems == [])
        #expect(try shell("stat -c %a '\(file)'") == "750\n")
    }

    @Test(.enabled(if: isRoot)) func `set-ID bits come back beside the backing file, onto a device of root`() throws {
        let device = try base.make()
        try base.write(device, "Documents/note", [1])
        let file = try base.data(device) + "/Documents/note"
        try shell("setfattr -n user.appcontainer.mode -v 6000 '\(file)'; chmod 1755 '\(file)'")
        let (backup, _) = try base.backUp(device)
        #expect(backup.item("AppDomain-com.example.Notes/Documents/note")?.entry.permissions == 0o6755)
        _ = try base.restore(backup, onto: device)
        let restored = try base.data(device) + "/Documents/note"
        let found = try shell(
            "stat -c %a '\(restored)'; getfattr --absolute-names --only-values -n user.appcontainer.mode '\(restored)'")
        #expect(found == "1755\n6000")
    }
}
