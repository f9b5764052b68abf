// Tests of ciphertext of another device: the backup password opens it, and nothing else does.

import BackingStore
import BackupModel
import DataProtection
import Foundation
import HashFunctions
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct OtherDeviceRestoreTests {
    /// The device that is backed up, and another one.
    let base = BackupTests()
    let there = BackupTests()
    let password = Array("swordfish".utf8)
    private var notes: ContainerIdentifier { base.notes }
    static let path = "AppDomain-com.example.Notes/Documents/closed"

    /// Contents by name in `Documents`.
    private static let contents: [String: [UInt8]] = [
        "closed": Array("secret".utf8), "empty": [], "large": (0..<700_001).map { UInt8(truncatingIfNeeded: $0 / 97) },
        "block": [UInt8](repeating: 5, count: 4096),
    ]

    private func write(_ device: BootedDevice) throws {
        for (name, content) in Self.contents {
            try base.write(device, "Documents/\(name)", content, protection: .complete)
        }
        try base.write(device, "Documents/b", [7, 8], protection: .completeUnlessOpen)
        try base.write(device, "Documents/c", [9], protection: .completeUntilFirstUserAuthentication)
        try base.write(device, "Documents/d", [10], protection: ProtectionClass.none)
        try base.write(device, "Documents/sparse", [9], protection: .complete, length: 3 << 20, at: 1 << 20)
        let documents = try base.data(device) + "/Documents/"
        try shell("ln '\(documents)closed' '\(documents)too'; chmod 640 '\(documents)closed'")
        try shell("setfattr -n user.color -v blue '\(documents)closed'; touch -d @1000000000 '\(documents)closed'")
    }

    private func lock(_ device: BootedDevice, booted: Bool = false) {
        if booted { return device.forgetAsAfterBoot() }
        device.beginLocking()
        device.closeToNew()
        device.takeKeys()
    }

    /// A backup of a device that is locked, or before its first unlock, with its keybag.
    private func sealedBackup(booted: Bool = false) throws -> (BootedDevice, MemoryBackup) {
        let device = try base.make(passcode: "1234")
        try device.backupPassword.set(password)
        try write(device)
        lock(device, booted: booted)
        let (backup, tally) = try base.backUp(device)
        #expect(tally.sealed == (booted ? 7 : 6))
        backup.keybag = try device.backupPassword.keybag()?.encoded()
        return (device, backup)
    }

    private func restore(
        _ backup: MemoryBackup, onto device: BootedDevice, _ password: [UInt8]?
    ) throws(Complaint) -> RestoreTally {
        var source = backup.source
        return try device.restore(
            from: &source, replacing: Set(device.apps.map(\.identifier)), password: password)
    }

    private func requireContents(of device: BootedDevice) throws {
        let documents = try there.data(device) + "/Documents/"
        for (name, content) in Self.contents {
            #expect(try device.content(of: documents + name) == content, "\(name)")
        }
        #expect(try device.content(of: documents + "b") == [7, 8])
        #expect(try device.content(of: documents + "c") == [9])
        #expect(try device.content(of: documents + "d") == [10])
        let sparse = try device.content(of: documents + "sparse")
        #expect(sparse.count == 3 << 20 && sparse[1 << 20] == 9 && sparse.count { $0 != 0 } == 1)
        let facts = try shell(
            "cd '\(documents)'; stat -c '%a %h %Y' closed; getfattr --only-values -n user.color too; stat -c %i closed too "
                + "| uniq | wc -l")
        #expect(facts == "640 2 1000000000\nblue1\n")
        for (name, protection) in [
            ("closed", ProtectionClass.complete), ("b", .completeUnlessOpen),
            ("c", .completeUntilFirstUserAuthentication), ("d", .none),
        ] {
            let file = try Descriptor.open(path: documents + name, flags: O_RDONLY)
            #expect(EncryptedFile.protection(of: file) == protection, "\(name)")
        }
        #expect(try device.check().problems == [])
    }

    @Test(arguments: [false, true])
    func `with the password another device opens it all, each file in its class and under keys of its own`(
        booted: Bool
    ) throws {
        let (device, backup) = try sealedBackup(booted: booted)
        let other = try there.make(passcode: "9876")
        #expect(try restore(backup, onto: other, password).files == 9)
        try requireContents(of: other)
        // A hole is none of the host's in ciphertext, and comes back as one.
        #expect(try shell("du -k '\(there.data(other))/Documents/sparse' | cut -f1 | awk '$1 < 512'") != "")
        // Nothing of the other device's ciphertext is left, nor a name that the container has not.
        let name = try there.data(other) + "/Documents"
        #expect(try shell("ls -A '\(name)'") == shell("ls -A '\(base.data(device))/Documents'"))
        let old = try #require(backup.item(Self.path)).content.dropLast(32)
        let new = try Data(contentsOf: URL(filePath: name + "/closed"))
        // The key, the identity and every block.
        #expect(Data(old)[64..<160] != new[64..<160] && Data(old)[4096...] != new[4096...])
        // The class closes with the other device's lock, and opens with its own passcode.
        lock(other)
        #expect(throws: Fault.refused(.dataProtection)) { _ = try other.content(of: name + "/closed") }
        try other.open("9876")
        #expect(try other.text(of: name + "/closed") == "secret")
        _ = device
    }

    @Test func `the device itself needs no password, nor does its clone, and an erased one does`() throws {
        let (device, backup) = try sealedBackup()
        _ = try restore(backup, onto: device, nil)
        _ = try restore(backup, onto: device, Array("wrong".utf8))
        try device.open("1234")
        #expect(try device.text(of: try base.data(device) + "/Documents/closed") == "secret")
        try device.shutDown()
        device.release()
        try StoredDevice.clone(base.scratch.device, to: there.scratch.device)
        let clone = try there.scratch.boot()
        try clone.open("1234")
        _ = try restore(backup, onto: clone, nil)
        try requireContents(of: clone)
        try StoredDevice.erase(base.scratch.device)
        let erased = try base.scratch.boot()
        _ = try erased.install(sampleApp)
        #expect(complaint { _ = try restore(backup, onto: erased, nil) }?.kind == .passwordNeeded)
        _ = try restore(backup, onto: erased, password)
        #expect(try erased.text(of: try base.data(erased) + "/Documents/closed") == "secret")
    }

    @Test func `another passcode in between changes nothing, another password goes with its backups`() throws {
        let (device, early) = try sealedBackup()
        try device.open("1234")
        try device.passcode.change(from: Array("1234".utf8), to: Array("5678".utf8))
        try device.backupPassword.change(from: password, to: Array("marlin".utf8))
        lock(device)
        let (late, _) = try base.backUp(device)
        late.keybag = try device.backupPassword.keybag()?.encoded()
        let other = try there.make()
        #expect(complaint { _ = try restore(late, onto: other, password) }?.kind == .wrongPassword)
        _ = try restore(early, onto: other, password)
        try requireContents(of: other)
        _ = try restore(late, onto: other, Array("marlin".utf8))
        try requireContents(of: other)
        // The keys are the same under each password: the one keybag opens what went in under the other.
        early.keybag = late.keybag
        _ = try restore(early, onto: other, Array("marlin".utf8))
    }

    /// Expects a refusal that leaves the device as it was.
    private func refuses(
        _ what: String, _ kind: Complaint.Kind, _ backup: MemoryBackup, _ password: [UInt8]?, onto other: BootedDevice
    ) {
        let before = there.scratch.containers
        let complaint = complaint { _ = try restore(backup, onto: other, password) }
        #expect(complaint?.kind == kind, "\(what): \(complaint?.message ?? "accepted")")
        #expect(complaint?.message.contains("\n") == false)
        #expect(there.scratch.containers == before, "\(what)")
    }

    private func copy(_ backup: MemoryBackup) -> MemoryBackup {
        let copy = MemoryBackup()
        (copy.apps, copy.items, copy.keybag, copy.isFinished) = (backup.apps, backup.items, backup.keybag, true)
        return copy
    }

    @Test func `no password, a wrong one, no keybag or that of another is refused in a line`() throws {
        let (_, backup) = try sealedBackup()
        let other = try there.make()
        refuses("no password", .passwordNeeded, backup, nil, onto: other)
        for wrong in [[], Array("Swordfish".utf8), password + [10]] {
            refuses("a wrong password", .wrongPassword, backup, wrong, onto: other)
        }
        let changed = copy(backup)
        changed.keybag = nil
        refuses("no keybag", .otherDevice, changed, password, onto: other)
        try other.backupPassword.set(password)
        changed.keybag = try other.backupPassword.keybag()?.encoded()
        refuses("a keybag of this device", .invalidBackup, changed, password, onto: other)
        let whole = try #require(backup.keybag)
        for (what, bytes) in [
            ("nothing", []), ("a cut keybag", Array(whole.dropLast())), ("half", Array(whole.prefix(150))),
            ("a longer one", whole + [0]), ("a changed one", [UInt8](repeating: 1, count: 1) + whole.dropFirst()),
            ("megabytes", [UInt8](repeating: 0, count: 1 << 22)),
        ] {
            changed.keybag = bytes
            refuses(what, .invalidBackup, changed, password, onto: other)
        }
        // With a checksum that agrees: an absurd cost, a later version, and a key that was exchanged.
        func remade(_ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
            var all = Array(whole.dropLast(24))
            all.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            return all + HashFunction.sha256.digest(of: all).prefix(24)
        }
        let begin = ContinuousClock.now
        for cost in [[UInt8(20), 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0], [14, 0, 0, 0, 32, 0, 0, 0, 16, 0, 0, 0]] {
            changed.keybag = remade(12, cost)
            refuses("an absurd cost", .invalidBackup, changed, password, onto: other)
        }
        #expect(ContinuousClock.now - begin < .seconds(2))
        changed.keybag = remade(8, [9, 0, 0, 0])
        refuses("a later version", .newerBackup, changed, password, onto: other)
        changed.keybag = remade(72, Array(whole[112..<152]))
        refuses("an exchanged key", .wrongPassword, changed, password, onto: other)
        changed.keybag = remade(24, Array(whole[25..<40]) + [0])
        refuses("another identifier", .wrongPassword, changed, password, onto: other)
    }

    @Test func `what the device has not written there so is refused, with the password too`() throws {
        let (device, backup) = try sealedBackup()
        let other = try there.make()
        let keybag = device.passcode.keybagIdentifier
        let content = try #require(backup.item(Self.path)).content
        func with(_ place: Int, _ value: UInt8) -> [UInt8] {
            var bytes = content
            bytes[place] = value
            return bytes
        }
        func setContent(_ item: inout MemoryBackup.Item, _ bytes: [UInt8]) {
            item.entry.kind = .file(.sealed(length: Int64(bytes.count), keybag: keybag))
            item.pieces = [(0, bytes)]
        }
        let block = try #require(backup.item("AppDomain-com.example.Notes/Documents/block")).content
        let changes: [(String, (inout MemoryBackup.Item) -> Void)] = [
            ("a program", { setContent(&$0, SealedRestoreTests.program) }),
            ("without the proof", { setContent(&$0, Array(content.dropLast(32))) }),
            ("a forged proof", { setContent(&$0, content.dropLast(32) + [UInt8](repeating: 7, count: 32)) }),
            ("a changed proof", { setContent(&$0, with(content.count - 1, content.last! ^ 1)) }),
            ("a changed block", { setContent(&$0, with(4096, content[4096] ^ 1)) }),
            ("a changed header", { setContent(&$0, with(0, 0x7F)) }),
            ("another file's", { setContent(&$0, block) }),
            ("nothing", { setContent(&$0, []) }),
            ("more", { setContent(&$0, content + [0]) }),
            ("a set-user-ID bit", { $0.entry.permissions |= 0o4000 }),
            ("another class", { $0.entry.protection = ProtectionClass.none }),
            ("another name", { $0.entry.path = ["Documents", "cloned"] }),
        ]
        for (what, change) in changes {
            let forged = copy(backup)
            let index = try #require(forged.items.firstIndex { forged.path(of: $0.entry) == Self.path })
            change(&forged.items[index])
            refuses(what, .invalidBackup, forged, password, onto: other)
        }
        #expect(try shell("find '\(there.scratch.device)' -type f -perm /6000") == "")
    }

    @Test func `a proof of who has the password does not help blocks that do not open, or have no key`() throws {
        let (device, backup) = try sealedBackup()
        let other = try there.make()
        let keys = try #require(try device.backupPassword.keybag()).open(password: password)
        let content = try #require(backup.item(Self.path)).content.dropLast(32)
        func proven(
            _ bytes: [UInt8], _ protection: ProtectionClass = .complete
        ) throws -> MemoryBackup {
            let forged = copy(backup)
            let index = try #require(forged.items.firstIndex { forged.path(of: $0.entry) == Self.path })
            var entry = forged.items[index].entry
            entry.protection = protection
            entry.kind = .file(
                .sealed(length: Int64(bytes.count) + 32, keybag: device.passcode.keybagIdentifier))
            var origin = SealedOrigin(of: entry, key: keys.proofs)
            bytes.withSpan { origin.add($0) }
            forged.items[index] = MemoryBackup.Item(entry: entry, pieces: [(0, bytes + origin.proof())])
            return forged
        }
        // Of the header: session, seal, length, identity, key, a slot; then the block.
        for place in [8, 30, 56, 64, 90, 120, 260, 4096, 4100] {
            var bytes = Array(content)
            bytes[place] ^= 1
            refuses("\(place)", .invalidBackup, try proven(bytes), password, onto: other)
        }
        refuses("cut", .invalidBackup, try proven(Array(content.dropLast())), password, onto: other)
        refuses("a header alone", .invalidBackup, try proven(Array(content.prefix(4096))), password, onto: other)
        let open = try #require(backup.item("AppDomain-com.example.Notes/Documents/d"))
        #expect(open.content == [10])
        let path = try base.data(device) + "/Documents/d"
        let ofD = Array(try Data(contentsOf: URL(filePath: path)))
        refuses("class D", .invalidBackup, try proven(ofD, ProtectionClass.none), password, onto: other)
        _ = try restore(proven(Array(content)), onto: other, password)
    }

    @Test func `it can be given up within a file that is encrypted anew`() throws {
        let (_, backup) = try sealedBackup()
        let other = try there.make()
        let before = there.scratch.containers
        let index = try #require(backup.items.firstIndex { $0.entry.path.last == "large" })
        let read = backup.items[...index].reduce(Int64(0)) { $0 + Int64($1.content.count) }
        // Told that the file is read, that a part of it is encrypted, and that the next entry begins.
        func restore(calls: Int) -> (told: Int, complaint: Complaint?) {
            var told = 0
            let found = complaint {
                var source = backup.source
                _ = try other.restore(from: &source, replacing: [notes], password: password) { progress in
                    if progress.completed == read { told += 1 }
                    return told < calls
                }
            }
            return (told, found)
        }
        let refused = restore(calls: 2).complaint
        #expect(refused == Complaint.cancelled)
        #expect(there.scratch.containers == before)
        let whole = restore(calls: .max)
        #expect(whole.complaint == nil && whole.told >= 3)
    }

    @Test func `onto a locked device only what can be written there comes`() throws {
        let (_, backup) = try sealedBackup()
        let other = try there.make(passcode: "9876")
        lock(other)
        refuses("locked", .deviceLocked, backup, password, onto: other)
        try other.open("9876")
        _ = try restore(backup, onto: other, password)
        try requireContents(of: other)
    }
}
