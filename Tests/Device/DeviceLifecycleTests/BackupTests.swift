// Tests of a backup's content, and of its restore.

import BackingStore
import BackupModel
import BundleSeal
import CHostFaults
import DataProtection
import Foundation
import HashFunctions
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct BackupTests {
    let scratch = Scratch()
    let notes = id("com.example.Notes")
    let group = id("group.com.example")
    let mark = BackupMark.attributeName

    /// Makes an encrypted file in a container.
    func write(
        _ device: BootedDevice, _ path: String, _ content: [UInt8], protection: ProtectionClass = .standard,
        in place: BackingPlace = .data, length: Int64? = nil, at offset: Int64 = 0
    ) throws {
        try device.writeEncrypted(
            device.backingPath(of: notes, place) + "/" + path, content, protection: protection, length: length,
            at: offset)
    }

    func make(passcode: String? = nil) throws -> BootedDevice {
        let device = try scratch.makeDevice(passcode: passcode)
        if let passcode { try device.open(passcode) }
        _ = try device.install(sampleApp, groups: [group], iCloud: [id("iCloud.com.example")])
        return device
    }

    func backUp(
        _ device: BootedDevice, _ order: BackupOrder = BackupOrder(), into backup: MemoryBackup = MemoryBackup()
    ) throws -> (MemoryBackup, BackupTally) {
        backup.apps = try device.backupApps(order.app)
        var sink = backup.sink
        return (backup, try device.backUp(order, into: &sink))
    }

    func restore(_ backup: MemoryBackup, onto device: BootedDevice) throws -> RestoreTally {
        var source = backup.source
        return try device.restore(from: &source, replacing: Set(device.apps.map(\.identifier)))
    }

    func data(_ device: BootedDevice) throws -> String { try device.backingPath(of: notes, .data) }

    // S-CAPRICE-1
    @Test func `a device that disobeys backs up some marked files, tells which, and others the next time`() throws {
        var told: [[[String]]] = []
        for _ in 0..<2 {
            let scratch = Scratch()
            try StoredDevice.create(
                at: scratch.device,
                settings: DeviceSettings(keyDerivationCost: 1, capricious: Capriciousness(seed: "42")))
            let device = try scratch.boot()
            _ = try device.install(sampleApp)
            let documents = try device.backingPath(of: notes, .data) + "/Documents"
            for index in 0..<40 {
                let name = FileName("\(index)")!
                let directory = try Descriptor.open(path: documents, flags: O_RDONLY | O_DIRECTORY)
                try NewFile(name, mode: 0o644, owner: .current, protection: .standard).write(
                    in: directory, context: device.context
                ) { _ in }
                try AttributeHolder(name, in: directory).set(Array(BackupMark.attributeName.utf8), to: [1])
            }
            var turns: [[String]] = []
            for _ in 0..<2 {
                var disobeyed: [String] = []
                var listed: [String] = []
                try device.listBackup(BackupOrder()) { listing in
                    if listing.leftOut == nil, listing.path.count == 2, listing.path[0] == "Documents" {
                        listed.append(listing.path.text)
                    }
                }
                let backup = MemoryBackup()
                var sink = backup.sink
                _ = try device.backUp(BackupOrder(), into: &sink, disobeyed: { disobeyed.append($1.text) })
                let taken = backup.paths.filter { $0.contains("/Documents/") }.map {
                    $0.split(separator: "/").dropFirst()
                }
                #expect((1..<40).contains(disobeyed.count) && listed == disobeyed)
                #expect(taken.map { $0.joined(separator: "/") } == disobeyed)
                turns.append(disobeyed)
            }
            #expect(turns[0] != turns[1])
            told.append(turns)
        }
        #expect(told[0] == told[1])
    }

    @Test(arguments: ["", "two\nlines", String(repeating: "x", count: 101)])
    func `a seed is a line`(seed: String) {
        func create(_ seed: String) throws(Complaint) {
            try StoredDevice.create(
                at: scratch["none"], settings: DeviceSettings(capricious: Capriciousness(seed: seed)))
        }
        #expect(complaint { try create(seed) }?.kind == .badRequest)
        #expect(scratch.names == [])
    }

    @Test func `a backup has the files that a phone backs up, in the order of names, and no others`() throws {
        let device = try make()
        for path in ["Documents/b", "Documents/a", "Library/x", "Library/Caches/c", "tmp/t"] {
            try write(device, path, Array(path.utf8))
        }
        try write(device, "g", [1], in: .shared(group))
        try write(device, "i", [1], in: .shared(id("iCloud.com.example")))
        let (backup, tally) = try backUp(device)
        #expect(
            backup.paths == [
                "AppDomain-com.example.Notes", "AppDomain-com.example.Notes/Documents",
                "AppDomain-com.example.Notes/Documents/a", "AppDomain-com.example.Notes/Documents/b",
                "AppDomain-com.example.Notes/Library", "AppDomain-com.example.Notes/Library/Preferences",
                "AppDomain-com.example.Notes/Library/x", "AppDomainGroup-group.com.example",
                "AppDomainGroup-group.com.example/Library", "AppDomainGroup-group.com.example/g",
            ])
        #expect(backup.item("AppDomain-com.example.Notes/Documents/a")?.content == Array("Documents/a".utf8))
        #expect(tally.files == 4 && tally.bytes == 32 && tally.sealed == 0)
        #expect(backup.isFinished)
    }

    @Test func `a marked entry stays out with all below it, and goes in with its mark if marks are ignored`() throws {
        let device = try make()
        let documents = try data(device) + "/Documents"
        try FileManager.default.createDirectory(atPath: documents + "/out/in", withIntermediateDirectories: true)
        for path in ["Documents/out/in/f", "Documents/marked", "Documents/plain"] { try write(device, path, [7]) }
        try shell("setfattr -n \(mark) -v x '\(documents)/out' '\(documents)/marked'")
        #expect(
            try backUp(device).0.paths.filter { $0.contains("/Documents/") } == [
                "AppDomain-com.example.Notes/Documents/plain"
            ])
        let (all, _) = try backUp(device, BackupOrder(ignoresExclusions: true))
        #expect(all.item("AppDomain-com.example.Notes/Documents/out/in/f") != nil)
        #expect(all.item("AppDomain-com.example.Notes/Documents/marked")?.entry.isExcluded == true)
        _ = try restore(all, onto: device)
        let names = try shell(
            "cd '\(data(device))/Documents' && getfattr -R --only-values -n \(mark) . 2>/dev/null | wc -c")
        #expect(names == "122\n")
    }

    @Test func `the decision about an entry of a backup opens no file`() throws {
        let device = try make()
        func opens(_ body: () throws -> Void) rethrows -> Int {
            let before = faults_opens()
            try body()
            return faults_opens() - before
        }
        func backupOpens() throws -> Int { try opens { _ = try backUp(device) } }
        func listOpens() throws -> Int { try opens { try device.listBackup(BackupOrder()) { _ in } } }
        let (few, listed) = (try backupOpens(), try listOpens())
        let documents = try data(device) + "/Documents"
        for number in 0..<20 {
            try write(device, "Documents/out-\(number)", [1])
            try write(device, "tmp/\(number)", [1])
        }
        try shell("setfattr -n \(mark) -v x '\(documents)'/out-*")
        #expect(try backupOpens() == few, "twenty that are marked, and twenty where nothing goes in")
        for number in 0..<20 { try write(device, "Documents/in-\(number)", [1]) }
        #expect(try backupOpens() == few + 20, "a content is read from one open")
        #expect(try listOpens() == listed, "a list needs no content")
    }

    @Test func `a list says of everything whether it goes in, how large it is, and if not why`() throws {
        let device = try make()
        try write(device, "Documents/a", [UInt8](repeating: 1, count: 5000))
        try write(device, "Documents/marked", [7])
        try shell("setfattr -n \(mark) -v x '\(data(device))/Documents/marked'")
        var lines: [String] = []
        try device.listBackup(BackupOrder(app: notes)) { item in
            let reason = item.leftOut.map { "\($0)" } ?? "in"
            lines.append(
                "\(item.domain.name.prefix(9)) \(item.path.text) \(item.isDirectory ? 0 : item.bytes) \(reason)")
        }
        #expect(lines.contains("AppDomain Documents/a 5000 in"))
        #expect(lines.contains("AppDomain Documents/marked 1 marked"))
        #expect(lines.contains("AppDomain Library/Caches 0 place"))
        #expect(lines.contains("AppDomain tmp 0 place"))
    }

    @Test func `everything of a file comes back: bytes, holes, class, mode, times, attributes, names`() throws {
        let device = try make()
        let container = try data(device)
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try write(device, "Documents/large", large, protection: .complete)
        try write(device, "Documents/none", [1, 2, 3], protection: .none)
        try write(device, "Documents/sparse", [9], length: 3 << 20, at: 1 << 20)
        try write(device, "Documents/empty", [])
        try shell(
            """
            cd '\(container)/Documents'; setfattr -n user.color -v blue none; mkdir -m 700 private; ln none private/link
            ln -s ../nowhere dangling; mkfifo pipe; setfattr -n user.appcontainer.protection -v NSFileProtectionComplete private
            setfattr -n user.appcontainer.mode -v 4000 none; chmod 1711 none; touch -d '2001-02-03 04:05:06.123456789Z' none; touch -d 2002-03-04Z private; chmod 500 private
            """)
        let (backup, tally) = try backUp(device)
        #expect(tally.files == 5)
        try shell("chmod 700 '\(container)/Documents/private'; rm -rf '\(container)/Documents/'*")
        let restored = try restore(backup, onto: device)
        #expect(restored.files == 5 && restored.apps == [notes] && restored.groups == [group] && restored.waiting == [])
        let new = try data(device) + "/Documents"
        #expect(new != container + "/Documents")
        #expect(try device.content(of: new + "/large") == large)
        #expect(try device.content(of: new + "/none") == [1, 2, 3])
        #expect(try device.content(of: new + "/empty") == [])
        let sparse = try device.content(of: new + "/sparse")
        #expect(sparse.count == 3 << 20 && sparse[1 << 20] == 9 && sparse.reduce(0) { $0 + Int($1) } == 9)
        let found = try shell(
            """
            cd '\(new)'; stat -c '%n %a %h' none private private/link; stat -c '%y' none private
            getfattr --only-values -n user.color none; echo; readlink dangling; stat -c %F pipe
            getfattr --only-values -n user.appcontainer.protection private; echo; [ none -ef private/link ] && echo same
            [ $(stat -c %b sparse) -lt 600 ] && echo sparse
            """)
        #expect(
            found
                == """
                none \(isRoot ? "1711" : "711") 2
                private 500 1
                private/link \(isRoot ? "1711" : "711") 2
                2001-02-03 04:05:06.123456789 +0000
                2002-03-04 00:00:00.000000000 +0000
                blue
                ../nowhere
                fifo
                NSFileProtectionComplete
                same
                sparse

                """.replacingOccurrences(of: "private 500 1", with: "private 500 2"))
        for (name, protection) in [("large", ProtectionClass.complete), ("none", .none), ("empty", .standard)] {
            #expect(
                EncryptedFile.protection(of: try Descriptor.open(path: new + "/" + name, flags: O_RDONLY)) == protection
            )
        }
        #expect(try device.check().problems == [])
    }

    @Test func `the same content gives the same entries, on the device that they were restored onto too`() throws {
        let device = try make()
        try write(device, "Documents/a", [1, 2, 3])
        try write(device, "Library/b", [4], protection: .complete)
        let (first, _) = try backUp(device)
        let (second, _) = try backUp(device)
        #expect(first.description == second.description)
        _ = try restore(first, onto: device)
        #expect(try backUp(device).0.description == first.description)
    }

    @Test func `unchanged content of an earlier backup is continued`() throws {
        let device = try make()
        try write(device, "Documents/same", [1])
        try write(device, "Documents/changed", [2])
        let backup = MemoryBackup()
        backup.earlier = [
            "AppDomain-com.example.Notes/Documents/same": HashFunction.sha256.digest(of: [1]),
            "AppDomain-com.example.Notes/Documents/changed": HashFunction.sha256.digest(of: [1]),
        ]
        let (_, tally) = try backUp(device, BackupOrder(isIncremental: true), into: backup)
        #expect(tally.continued == 1 && tally.files == 2)
        #expect(backup.item("AppDomain-com.example.Notes/Documents/same") == nil)
        #expect(backup.item("AppDomain-com.example.Notes/Documents/changed")?.content == [2])
    }

    @Test func `a closed file is backed up as ciphertext, and opens after a restore and an unlock`() throws {
        let device = try make(passcode: "1234")
        try write(device, "Documents/closed", Array("secret".utf8), protection: .complete)
        try write(device, "Documents/open", Array("plain".utf8))
        device.beginLocking()
        device.closeToNew()
        device.takeKeys()
        let (backup, tally) = try backUp(device)
        #expect(tally.sealed == 1)
        let item = try #require(backup.item("AppDomain-com.example.Notes/Documents/closed"))
        #expect(item.entry.protection == .complete)
        #expect(!item.content.contains(Array("secret".utf8)))
        #expect(backup.item("AppDomain-com.example.Notes/Documents/open")?.content == Array("plain".utf8))
        _ = try restore(backup, onto: device)
        try device.open("1234")
        #expect(try device.text(of: data(device) + "/Documents/closed") == "secret")

        let other = Scratch()
        let stranger = try other.makeDevice()
        #expect(complaint { _ = try restore(backup, onto: stranger) }?.kind == .otherDevice)
        #expect(stranger.registry == AppRegistry())
    }

    @Test func `a backup that is not whole changes nothing`() throws {
        let device = try make()
        try write(device, "Documents/note", Array("old".utf8))
        let (backup, _) = try backUp(device)
        let before = scratch.containers
        backup.isFinished = false
        #expect(complaint { _ = try restore(backup, onto: device) }?.kind == .invalidBackup)
        #expect(scratch.containers == before)
        #expect(try device.text(of: data(device) + "/Documents/note") == "old")
    }

    @Test(arguments: Milestone.allCases)
    func `killed at any step, a restore has happened wholly or not at all`(_ milestone: Milestone) throws {
        let backup: MemoryBackup
        do {
            let device = try make()
            try write(device, "Documents/note", Array("new".utf8))
            (backup, _) = try backUp(device)
            try shell("rm '\(data(device))/Documents/note'")
            try write(device, "Documents/note", Array("old".utf8))
            try device.shutDown()
        }
        let copy = Scratch()
        let isDone = Atomic(false)
        let device = try scratch.boot { reached in
            guard reached == milestone, !isDone.exchange(true, ordering: .relaxed) else { return }
            _ = try? shell("cp -a '\(scratch.device)' '\(copy.device)'")
        }
        _ = try restore(backup, onto: device)
        guard isDone.load(ordering: .relaxed) else { return }
        let again = try copy.boot()
        let text = try again.text(of: again.backingPath(of: notes, .data) + "/Documents/note")
        let old: Set<Milestone> = [.stagedData, .synchronized, .movedOne, .moved]
        #expect(text == (old.contains(milestone) ? "old" : "new"))
        #expect(try again.check().problems == [])
    }

    @Test func `entries that are not as they should be are refused in one line`() throws {
        let device = try make()
        try write(device, "Documents/note", [1])
        let (backup, _) = try backUp(device)
        func changed(_ change: (inout [MemoryBackup.Item]) -> Void) -> MemoryBackup {
            let copy = MemoryBackup()
            (copy.apps, copy.items, copy.isFinished) = (backup.apps, backup.items, true)
            change(&copy.items)
            return copy
        }
        let index = try #require(backup.items.firstIndex { $0.entry.path == ["Documents", "note"] })
        let flaws: [(inout [MemoryBackup.Item]) -> Void] = [
            { $0.insert($0[index], at: index) },
            { $0[index].entry.path = ["Documents", "missing", "note"] },
            { $0[index].entry.kind = .hardLink(["Documents", "none"]) },
            { $0[index].entry.kind = .hardLink(["Documents"]) },
            { $0[index].entry.kind = .hardLink([".com.apple.mobile_container_manager.metadata.plist"]) },
            { $0[index].entry.path = ["Documents", "Inbox"] },
            { $0[index - 1].entry.kind = .symbolicLink(Array("/etc".utf8)) },
            { $0.append($0[0]) },
        ]
        for (number, flaw) in flaws.enumerated() {
            let complaint = complaint { _ = try restore(changed(flaw), onto: device) }
            #expect(complaint?.kind == .invalidBackup, "\(number): \(complaint?.message ?? "accepted")")
        }
        #expect(try device.content(of: data(device) + "/Documents/note") == [1])
    }

    @Test func `a damaged file ends the backup with its name`() throws {
        let device = try make()
        try write(device, "Documents/note", [UInt8](repeating: 1, count: 9000))
        try shell(changingByte(of: "'\(data(device))/Documents/note'", at: 5000))
        let complaint = complaint { _ = try backUp(device) }
        #expect(complaint?.kind == .damaged)
        #expect(complaint?.message.contains("Documents/note") == true)
    }

    @Test func `a device without space for it is left as it was`() throws {
        let device = try make()
        try write(device, "Documents/note", [UInt8](repeating: 1, count: 3 << 20))
        let (backup, _) = try backUp(device)
        let place = Scratch()
        let small = try place.makeDevice()
        _ = try small.install(sampleApp)
        try small.bound(capacity: 2 << 20, marks: .usual)
        let before = place.containers
        #expect(complaint { _ = try restore(backup, onto: small) }?.kind == .noSpace)
        #expect(place.containers == before)
    }
}

extension MemoryBackup: CustomStringConvertible {
    /// Everything of it.
    var description: String {
        items.map { item in
            let time = item.entry.modificationTime
            return "\(path(of: item.entry)) \(item.entry.kind) \(item.entry.permissions) \(item.entry.owner) "
                + "\(time.tv_sec).\(time.tv_nsec) \(String(describing: item.entry.protection)) \(item.entry.attributes) "
                + "\(item.content.count)"
        }.joined(separator: "\n")
    }
}
