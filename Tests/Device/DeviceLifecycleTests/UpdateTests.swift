// Updating an installed app: what it keeps, what it gets, what is refused, and that a kill leaves the old or the new.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct UpdateTests {
    let scratch = Scratch()

    /// The sample app as a later version: other resources, another name.
    private func laterApp() throws -> String {
        try scratch.makeApp(
            "Later", identifier: "com.example.Notes",
            "rm -rf _CodeSignature; sed -i 's/1\\.2/1.3/' Info.plist; echo new > Samples/New.txt; rm Samples/Welcome.txt FirstNote.txt"
        )
    }

    /// Puts content of every class, links, attributes and odd modes into an app's containers.
    private func fill(_ device: BootedDevice, _ app: InstalledApp) throws {
        let data = try device.backingPath(of: app.identifier, .data)
        try shell(
            "cd '\(data)' && mkdir -p Documents/a/b Documents/Inbox Library/Caches/c 'Library/Application Support' tmp/t"
        )
        let places: [([FileName], ProtectionClass)] = [
            (["Documents", "complete"], .complete), (["Documents", "a", "b", "open"], .completeUnlessOpen),
            (["Library", "Caches", "c", "cached"], .completeUntilFirstUserAuthentication),
            (["Library", "Application Support", "none"], .none), (["Documents", "Inbox", "mail"], .standard),
            (["tmp", "t", "passing"], .standard),
        ]
        let container = try device.directory.container(.data, app.data)
        for (path, protection) in places {
            let file = NewFile(path.last!, mode: 0o640, owner: app.containerOwner, protection: protection)
            try file.write(
                in: try container.openDirectory(at: path.dropLast()), context: device.context
            ) { (file) throws(Fault) in
                let text = Array("\(path.text) \(protection)".utf8)
                let buffer = PageBuffer(count: text.count)
                buffer.copy(text, to: 0)
                try buffer.withBytes(0, count: text.count) { (bytes) throws(Fault) in _ = try file.write(bytes, at: 0) }
            }
        }
        try shell(
            """
            set -e; cd '\(data)'
            ln Documents/complete Library/linked; ln Documents/complete tmp/linked; ln -s ../nowhere Documents/link
            mkfifo Library/fifo; chmod 0500 Documents/a; touch -d '2001-02-03 04:05:06.789' Documents/complete Library/Caches
            setfattr -n user.color -v blue Documents/complete; setfattr -n user.com.apple.metadata:com_apple_backup_excludeItem -v x Library
            setfattr -n user.appcontainer.protection -v NSFileProtectionComplete Documents/a/b
            """)
    }

    /// Everything that an update keeps, as the host has it.
    private func kept(_ device: BootedDevice, withInodes: Bool = true) throws -> String {
        let app = try device.app(id("com.example.Notes"))
        let data = device.directory.path(of: .data, app.data)
        return try shell(
            """
            cd '\(data)' && find Documents Library -printf '%P %y %m %U:%G %T@ %l\(withInodes ? " %i" : "")\n' | LC_ALL=C sort
            find Documents Library -type f -printf '%P %s links=%n\n' | LC_ALL=C sort
            getfattr -hR -d -m - Documents Library | grep -v '^#' | LC_ALL=C sort
            find Documents Library -type f -exec sha256sum {} + | LC_ALL=C sort
            """)
    }

    /// Whether the app stands as its new version, with all that belongs to it; else as its old one.
    private func isNew(_ device: BootedDevice, _ kept: String, withInodes: Bool = true) throws -> Bool {
        let app = try #require(device.apps.first)
        #expect(device.apps.count == 1)
        #expect(try self.kept(device, withInodes: withInodes) == kept)
        let data = device.directory.path(of: .data, app.data)
        let isNew = app.version == "1.3"
        #expect(app.bundleName.text == (isNew ? "Later.app" : "Notes.app"))
        let source = isNew ? scratch["Later.app"] : sampleApp
        try shell("diff -r --exclude _CodeSignature '\(source)' '\(device.backingPath(of: app.identifier, .app))'")
        let metadata = try device.text(of: "\(data)/\(HomeLayout.metadata.text)")
        #expect(metadata.contains("<string>\(app.data.text)</string>"))
        #expect(try device.text(of: "\(data)/Documents/complete") == "Documents/complete complete")
        #expect(
            try shell("cd '\(data)' && find tmp | sort")
                == (isNew ? "tmp\n" : "tmp\ntmp/linked\ntmp/t\ntmp/t/passing\n"))
        #expect(try shell("ls -A '\(data)'").split(separator: "\n").count == 4)
        #expect(try device.check().problems == [])
        let top = scratch.containers.filter { $0.hasSuffix("UUID") || $0.hasPrefix("Staging") }
        #expect(top.filter { $0.hasPrefix("Bundle") || $0.hasPrefix("Data") }.count == 2)
        return isNew
    }

    @Test func `an update keeps Documents and Library as they are, and nothing of tmp`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        try device.open("1234")
        let old = try device.install(sampleApp, groups: [id("group.a")])
        try fill(device, old)
        // A hard link that was in tmp too has one name less.
        let before = try kept(device).replacing("links=3", with: "links=2")
        let new = try device.install(try laterApp(), groups: [id("group.b"), id("group.a")], iCloud: [id("iCloud.a")])
        #expect(new.bundle != old.bundle && new.data != old.data)
        #expect(new.groups.map(\.identifier.text) == ["group.a", "group.b"])
        #expect(new.groups[0] == old.groups[0])
        #expect(new.iCloud.map(\.identifier.text) == ["iCloud.a"])
        #expect(new.owner == old.owner)
        #expect(try isNew(device, before))
        #expect(try device.directory.apps() == [new])
        let container = try device.directory.container(.data, new.data)
        #expect(throws: SystemError.noEntry) { _ = try device.directory.container(.data, old.data) }
        for path in [["Library", "linked"], ["Documents", "Inbox", "mail"]] as [[FileName]] {
            #expect(try container.openDirectory(at: path.dropLast()).exists(path.last!))
        }
        try device.shutDown()
    }

    @Test func `files that an update drops count no more, however many names they had`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        try fill(device, app)
        let data = try device.backingPath(of: app.identifier, .data)
        try shell(
            "cd '\(data)/tmp' && head -c 300000 /dev/urandom > one && mkdir d && ln one d/two && ln one d/three && ln -s x y"
        )
        device.countSpace { true }
        let before = device.context.space.used
        _ = try device.install(try laterApp())
        let after = device.context.space.used
        #expect(after < before - 300_000)
        device.countSpace { true }
        #expect(device.context.space.used == after)
    }

    @Test func `an app is updated while the device is locked, and again`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        let first = try device.install(sampleApp)
        let second = try device.install(sampleApp)
        let third = try device.install(sampleApp)
        #expect(Set([first.data, second.data, third.data]).count == 3)
        #expect(try device.check().problems == [])
        #expect(scratch.containers.filter { $0.hasSuffix("UUID") }.count == 2)
    }

    @Test func `an update that is cancelled or refused leaves the app as it was`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        try fill(device, app)
        let before = (try kept(device), scratch.containers)
        #expect(complaint { _ = try device.install(try laterApp(), progress: { _ in false }) } == .cancelled)
        let broken = try scratch.makeApp("Broken", identifier: "com.example.Notes", "mkfifo pipe")
        #expect(complaint { _ = try device.install(broken) }?.kind == .invalidApp)
        // Nobody who shows the app can be told.
        let staged = try device.stage(scratch["Later.app"])
        let refused = complaint {
            _ = try device.install(staged) { (_) throws(Complaint) in throw Complaint(.damaged, "cannot be shown") }
        }
        #expect(refused?.message == "cannot be shown")
        device.discard(staged)
        // The registry cannot be written.
        try shell("mkdir -p '\(scratch.device)/.Apps.json.new/x'")
        #expect(complaint { _ = try device.install(scratch["Later.app"]) } != nil)
        try shell("rm -r '\(scratch.device)/.Apps.json.new'")
        #expect(device.apps == [app])
        #expect((try kept(device), scratch.containers) == before)
        #expect(try !isNew(device, before.0))
        _ = try device.install(scratch["Later.app"])
    }

    @Test func `an app keeps its owner, and an update for another is refused`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        let stranger = ContainerOwner(user: app.owner + 1, group: app.ownerGroup)
        let refusal = complaint { _ = try device.install(sampleApp, owner: stranger) }
        #expect(refusal?.kind == .notAllowed)
        #expect(refusal?.message.contains("belongs to the user \(app.owner)") == true)
        let same = try device.install(sampleApp, owner: ContainerOwner(user: app.owner, group: app.ownerGroup))
        #expect(same.owner == app.owner && same.data != app.data)
    }

    @Test func `a replaced bundle is removed with its last reader`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        let other = try device.install(try scratch.makeApp("Other", identifier: "com.example.Other"))
        var reading: SealedBundle? = try device.sealedBundle(of: app)
        _ = try device.install(try laterApp())
        let staged = scratch["device/Staging/\(app.bundle)/Notes.app/Info.plist"]
        // The update stays staged through the other calls.
        try device.reset(other.identifier)
        try device.uninstall(other.identifier)
        #expect(try device.check(repair: true).repaired == [])
        #expect(FileManager.default.fileExists(atPath: staged))
        let index = try #require(reading!.child("Info.plist", of: SealedBundle.top))
        _ = try reading!.open(index, context: device.context)
        reading = nil
        // It is removed by a thread of its own.
        eventually("the end of what is staged") { scratch.staging.isEmpty }
        #expect(scratch.staging == [])
    }

    @Test func `a bundle that is read until the end goes with the session`() throws {
        let device = try scratch.makeDevice()
        let reading = try device.sealedBundle(of: try device.install(sampleApp))
        _ = try device.install(sampleApp)
        #expect(scratch.staging.count == 1)
        try device.shutDown()
        #expect(scratch.staging == [])
        withExtendedLifetime(reading) {}
    }

    // MARK: Interrupted

    /// The steps of an update that adds a group. The registry decides at the eleventh.
    private static let steps: [Milestone] =
        [
            .stagedBundle, .sealedBundle, .stagedData, .stagedShared, .synchronized, .movedOne, .movedOne, .moved,
            .namedBoth, .laidReady, .registered,
        ] + Array(repeating: .exchangedOne, count: 4) + [.renamed, .renamed, .retiredBundle, .removed]

    private static let decision = steps.firstIndex(of: .registered)!

    @Test func `an update that is interrupted at any step leaves the old app or the new one, whole`() throws {
        let later = try laterApp()
        let number = Mutex(0)
        let reached = Mutex<[Milestone]>([])
        let copies = scratch["copies"]
        let path = scratch.device
        try shell("mkdir '\(copies)'")
        do {
            let device = try scratch.makeDevice()
            try fill(device, try device.install(sampleApp))
            try device.shutDown()
        }
        var before = ""
        do {
            let device = try scratch.boot { milestone in
                reached.withLock { $0.append(milestone) }
                let number = number.withLock { number in
                    defer { number += 1 }
                    return number
                }
                // As a host finds it that goes down right now.
                _ = try? shell("cp -a '\(path)' '\(copies)/\(number)'")
            }
            before = try kept(device, withInodes: false)
            _ = try device.install(later, groups: [id("group.a")])
            #expect(reached.withLock { $0 } == UpdateTests.steps)
        }
        for step in UpdateTests.steps.indices {
            let copy = "\(copies)/\(step)"
            try requireHarmless(copy)
            // A clone of what was interrupted is as whole.
            try StoredDevice.clone(copy, to: "\(copies)/clone")
            for place in ["\(copies)/clone", copy] {
                try shell("rm -rf '\(path)' && mv '\(place)' '\(path)'")
                let device = try scratch.boot()
                let expected = step < UpdateTests.decision ? before : before.replacing("links=3", with: "links=2")
                #expect(
                    try isNew(device, expected, withInodes: false) == (step >= UpdateTests.decision), "step \(step)")
                #expect(scratch.staging == [])
                _ = try device.install(step % 2 == 0 ? later : sampleApp)
                try device.shutDown()
            }
        }
    }

    /// A version that takes every container for left over that no app has does no harm to what is found here.
    private func requireHarmless(_ device: String) throws {
        let directory = try DeviceDirectory.open(at: device)
        let known = Set(try directory.apps().map(\.data))
        let strangers = try directory.containers(.data).names { name in
            ContainerUUID(name.text).map { !known.contains($0) } ?? false
        }
        #expect(strangers == [])
    }

    @Test(arguments: [3, 9, 10, 11, 12, 15, 17, 18])
    func `an app survives a kill at a step of its update`(step: Int) async throws {
        let later = try laterApp()
        var before = ""
        do {
            let device = try scratch.makeDevice()
            try fill(device, try device.install(sampleApp))
            before = try kept(device)
            try device.shutDown()
        }
        let device = scratch.device
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [device = device as String, later = later as String, step = step as Int] in
            let device = try BootedDevice.boot(at: device, report: { _ in }, reached: InstallTests.lethal(step))
            _ = try device.install(later, groups: [ContainerIdentifier("group.a")!])
        }
        // The command prints this list also before the next boot.
        let directory = try DeviceDirectory.open(at: device)
        let present = directory.presentPath(of: .data, try directory.apps()[0].data)
        #expect(FileManager.default.fileExists(atPath: "\(present)/Documents/complete"))
        let after = try scratch.boot()
        let isNew = step > UpdateTests.decision
        #expect(try self.isNew(after, isNew ? before.replacing("links=3", with: "links=2") : before) == isNew)
    }

    @Test func `an erase of a device with an interrupted update leaves nothing of it`() throws {
        let later = try laterApp()
        let copy = scratch["copy"]
        let path = scratch.device
        do {
            let device = try scratch.makeDevice()
            try device.shutDown()
        }
        do {
            let device = try scratch.boot { milestone in
                if milestone == .exchangedOne { _ = try? shell("[ -e '\(copy)' ] || cp -a '\(path)' '\(copy)'") }
            }
            _ = try device.install(sampleApp)
            _ = try device.install(later)
        }
        try StoredDevice.erase(copy)
        try shell("rm -rf '\(path)' && mv '\(copy)' '\(path)'")
        #expect(try scratch.boot().apps == [])
        #expect(scratch.containers == emptyDevice)
    }
}

extension Scratch {
    fileprivate var staging: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: self["device/Staging"])) ?? []
    }
}
