// Delivering, resetting, entitling: what the app finds afterwards.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct DeliveryTests {
    let scratch = Scratch()
    let notes = id("com.example.Notes")

    private func inbox(_ device: BootedDevice) throws -> String {
        try device.backingPath(of: notes, .data) + "/Documents/Inbox"
    }

    private func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: scratch[name]))
        return scratch[name]
    }

    // S-INBOX-7
    @Test func `an item whose type is not declared keeps all others out`() throws {
        let app = try scratch.makeApp(
            "Notes", identifier: "com.example.Notes",
            """
            /usr/bin/python3 -c 'import plistlib
            list = plistlib.load(open("Info.plist", "rb"))
            list["CFBundleDocumentTypes"] = [{"LSItemContentTypes": ["public.image"]}]
            plistlib.dump(list, open("Info.plist", "wb"))'
            """)
        let device = try scratch.makeDevice()
        _ = try device.install(app)
        let (photo, letter) = (try write("a.png", "one"), try write("b.txt", "two"))
        let refusal = complaint { _ = try device.deliver([photo, letter], to: notes) }
        #expect(refusal?.kind == .undeclaredType && refusal?.message.contains("public.plain-text") == true)
        #expect(!FileManager.default.fileExists(atPath: try inbox(device)))
        #expect(try device.deliver([photo], to: notes).names == ["a.png"])
        #expect(try device.deliver([photo, letter], to: notes, anyType: true).names == ["a-1.png", "b.txt"])
    }

    @Test func `an app that declares too many types gets an item without them alone`() throws {
        let app = try scratch.makeApp(
            "Notes", identifier: "com.example.Notes",
            """
            /usr/bin/python3 -c 'import plistlib
            list = plistlib.load(open("Info.plist", "rb"))
            list["CFBundleDocumentTypes"] = [{"LSItemContentTypes": ["public.text"]}]
            list["UTExportedTypeDeclarations"] = [
                {"UTTypeIdentifier": f"t{n}", "UTTypeConformsTo": f"t{n + 1}",
                 "UTTypeTagSpecification": {"public.filename-extension": "txt"}} for n in range(20000)]
            plistlib.dump(list, open("Info.plist", "wb"), fmt=plistlib.FMT_BINARY)'
            """)
        let device = try scratch.makeDevice()
        _ = try device.install(app)
        let letter = try write("b.txt", "two")
        let refusal = complaint { _ = try device.deliver([letter], to: notes) }
        #expect(refusal?.kind == .undeclaredType && refusal?.message.contains("--any-type") == true)
        #expect(refusal?.message.contains("4096") == true && refusal?.message.contains("\n") == false)
        #expect(try device.deliver([letter], to: notes, anyType: true).names == ["b.txt"])
    }

    @Test func `the Inbox comes with the first file, and names that are taken are numbered`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        #expect(!FileManager.default.fileExists(atPath: try inbox(device)))
        let mail = try write("mail.txt", "one")
        let first = try device.deliver([mail], to: notes)
        #expect(first == InboxDelivery.Result(names: ["mail.txt"], madeInbox: true))
        _ = try write("mail.txt", "two")
        let second = try device.deliver([mail, mail], to: notes)
        #expect(second == InboxDelivery.Result(names: ["mail-1.txt", "mail-2.txt"], madeInbox: false))
        #expect(try device.text(of: inbox(device) + "/mail.txt") == "one")
        #expect(try device.text(of: inbox(device) + "/mail-2.txt") == "two")
        #expect(!scratch.containers.contains { $0 == "UUID" })
    }

    @Test func `a delivered file is encrypted under the default class`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        let mail = try write("mail.txt", String(repeating: "plaintext ", count: 100_000))
        _ = try device.deliver([mail], to: notes)
        let path = try inbox(device) + "/mail.txt"
        #expect(try device.content(of: path) == HostPath.contents(mail))
        #expect(try !HostPath.contents(path).contains(Array("plaintext".utf8)))
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY))
        #expect(try EncryptedFile.open(file, isWritable: false, context: device.context).protection == .standard)
    }

    @Test func `directories arrive whole, holes stay holes`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try shell(
            """
            cd '\(scratch.path)'; mkdir -p 'a bag/deep/er' && ln -s ../../outside 'a bag/deep/link'
            printf content > 'a bag/deep/er/file'; chmod 640 'a bag/deep/er/file'; : > 'a bag/empty'
            truncate -s 5G 'a bag/sparse'; printf end | dd of='a bag/sparse' bs=1 seek=3221225472 conv=notrunc status=none
            """)
        let delivery = try device.deliver([scratch["a bag/"]], to: notes)
        #expect(delivery.names == ["a bag"])
        let bag = try inbox(device) + "/a bag"
        #expect(try device.text(of: bag + "/deep/er/file") == "content")
        #expect(try device.content(of: bag + "/empty") == [])
        #expect(try shell("stat -c %a '\(bag)/deep/er/file'; readlink '\(bag)/deep/link'") == "640\n../../outside\n")
        let sparse = SharedDescriptor(try Descriptor.open(path: bag + "/sparse", flags: O_RDONLY))
        #expect(try EncryptedFile.open(sparse, isWritable: false, context: device.context).length == 5 << 30)
        #expect(Int(try shell("du -k '\(bag)/sparse' | cut -f1").dropLast())! < 1000)
    }

    @Test func `a delivery that fails is refused, and no part of it appears`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        let mail = try write("mail.txt", "one")
        try shell("mkdir '\(scratch["bag"])'; mkfifo '\(scratch["bag/pipe"])'")
        #expect(complaint { _ = try device.deliver([mail, scratch["none"]], to: notes) }?.kind == .notFound)
        #expect(complaint { _ = try device.deliver([mail, "/dev/null"], to: notes) }?.kind == .unsuitableFile)
        #expect(complaint { _ = try device.deliver([mail, scratch["bag"]], to: notes) }?.kind == .unsuitableFile)
        #expect(complaint { _ = try device.deliver([mail], to: id("com.example.None")) }?.kind == .unknownApp)
        #expect(complaint { _ = try device.deliver([mail], to: notes) { _ in false } } == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: try inbox(device)))
        #expect(!scratch.containers.contains { $0.hasPrefix("UUID") })
    }

    @Test func `a directory is not delivered into itself`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try shell("cd '\(scratch.path)'; ln -s . here; ln -s device/Staging staging")
        for name in ["device", "device/Staging", ".", "here", "staging", "device/Containers/../.."] {
            let refused = complaint { _ = try device.deliver([scratch[name]], to: notes) { _ in false } }
            #expect(refused?.kind == .unsuitableFile, "\(name)")
            #expect(refused?.message.contains("into itself") == true, "\(name): \(refused?.message ?? "delivered")")
        }
        #expect(complaint { _ = try device.deliver([""], to: notes) }?.kind == .notFound)
        _ = try device.deliver([scratch["device/Containers/Data"]], to: notes)
    }

    @Test(.enabled(if: isRoot, "mounting takes root"))
    func `nor is one that shows the device by another mount`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try shell("cd '\(scratch.path)'; mkdir -p bag/shown; mount --bind device bag/shown")
        defer { _ = try? shell("umount '\(scratch["bag/shown"])'") }
        let refused = complaint { _ = try device.deliver([scratch["bag"]], to: notes) { _ in false } }
        #expect(refused?.kind == .unsuitableFile)
    }

    @Test func `before first unlock nothing is delivered`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        _ = try device.install(sampleApp)
        let mail = try write("mail.txt", "one")
        #expect(complaint { _ = try device.deliver([mail], to: notes) }?.kind == .deviceLocked)
        try device.open("1234")
        _ = try device.deliver([mail], to: notes)
    }

    @Test(.enabled(if: isRoot, "giving files away takes root"))
    func `delivered files belong to the container's user`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp, owner: ContainerOwner(user: 1234, group: 567))
        try shell("cd '\(scratch.path)'; mkdir -p bag/a; ln -s x bag/a/link; touch bag/a/file")
        _ = try device.deliver([scratch["bag"]], to: notes)
        #expect(try shell("find '\(inbox(device))' -printf '%U:%G\\n' | sort -u") == "1234:567\n")
    }

    @Test(arguments: [
        ("mail.txt", "mail-1.txt"), ("mail", "mail-1"), (".hidden", ".hidden-1"), ("a.tar.gz", "a.tar-1.gz"),
        ("dot.", "dot-1."), ("-", "--1"),
    ])
    func `a number goes before the extension`(name: String, numbered: String) {
        #expect(DeliveryName.numbered(FileName(name)!, 1) == FileName(numbered)!)
    }

    @Test func `a numbered name is never too long, nor cut within a character`() {
        let long = String(repeating: "é", count: 125) + ".txt"
        let numbered = DeliveryName.numbered(FileName(long)!, 12)
        #expect(numbered.bytes.count <= 255)
        #expect(numbered.text.hasSuffix("é-12.txt"))
        #expect(!numbered.text.contains("\u{FFFD}"))
        let tail = DeliveryName.numbered(FileName("a." + String(repeating: "x", count: 253))!, 7)
        #expect(tail.bytes.count == 255)
        #expect(tail.text.hasSuffix("x-7"))
    }

    @Test func `reset empties the data container and leaves the groups`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp, groups: [id("group.a")])
        let fresh = scratch.containers
        let data = try device.backingPath(of: notes, .data)
        let group = try device.backingPath(of: notes, .shared(id("group.a")))
        try shell(
            """
            cd '\(data)'; mkdir -p 'Library/Application Support/a/b' Documents/Inbox; touch tmp/x; chmod 0 Library
            """)
        try device.reset(notes)
        #expect(scratch.containers == fresh)
        try shell("touch '\(group)/kept'")
        try device.reset(notes)
        #expect(scratch.containers == fresh + ["Shared/AppGroup/UUID/kept"])
        #expect(device.apps == [app])
        #expect(try device.text(of: data + "/" + HomeLayout.metadata.text).contains(app.data.text))
    }

    @Test func `entitle adds missing containers`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp, groups: [id("group.a")])
        #expect(try device.entitle(notes, groups: [id("group.a")]) == app)
        let entitled = try device.entitle(notes, groups: [id("group.a"), id("group.b")], iCloud: [id("iCloud.a")])
        #expect(entitled.groups.map(\.identifier.text) == ["group.a", "group.b"])
        #expect(entitled.groups[0] == app.groups[0])
        #expect(try device.directory.apps() == [entitled])
        for shared in entitled.groups + entitled.iCloud {
            let path = try device.backingPath(of: notes, .shared(shared.identifier))
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(complaint { _ = try device.backingPath(of: notes, .shared(id("group.c"))) }?.kind == .notFound)
    }

    @Test(arguments: [Milestone.stagedReset, .exchanged])
    func `killed while it resets, all of the old content is there or none`(milestone: Milestone) async throws {
        let scratch = scratch
        do {
            let device = try scratch.makeDevice()
            _ = try device.install(sampleApp)
            try shell("touch '\(device.backingPath(of: notes, .data))/Documents/old'")
            try device.shutDown()
        }
        let device = scratch.device
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [device = device as String, step = milestone.rawValue as String] in
            let device = try BootedDevice.boot(
                at: device, report: { _ in }, reached: { if $0.rawValue == step { kill(getpid(), SIGKILL) } })
            try device.reset(ContainerIdentifier("com.example.Notes")!)
        }
        _ = try scratch.boot()
        let old = scratch.containers.contains("Data/Application/UUID/Documents/old")
        #expect(old == (milestone == .stagedReset))
        #expect(scratch.containers.contains("Data/Application/UUID/Library/Caches"))
        #expect(!scratch.containers.contains("UUID"))
    }

    @Test(arguments: [Milestone.stagedDelivery, .madeInbox, .deliveredOne])
    func `killed while it delivers, what arrived is whole`(milestone: Milestone) async throws {
        let scratch = scratch
        do {
            let device = try scratch.makeDevice()
            _ = try device.install(sampleApp)
            try device.shutDown()
        }
        try shell("mkdir '\(scratch["bag"])'; echo a > '\(scratch["bag/a"])'; echo b > '\(scratch["bag/b"])'")
        let device = scratch.device
        let bag = scratch["bag"]
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [device = device as String, bag = bag as String, step = milestone.rawValue as String] in
            let device = try BootedDevice.boot(
                at: device, report: { _ in }, reached: { if $0.rawValue == step { kill(getpid(), SIGKILL) } })
            _ = try device.deliver([bag, bag], to: ContainerIdentifier("com.example.Notes")!)
        }
        let after = try scratch.boot()
        let arrived = scratch.containers.compactMap { path in
            path.range(of: "Inbox/").map { String(path[$0.upperBound...]) }
        }
        #expect(arrived == (milestone == .deliveredOne ? ["bag", "bag/a", "bag/b"] : []))
        if milestone == .deliveredOne { #expect(try after.text(of: inbox(after) + "/bag/b") == "b\n") }
        #expect(!scratch.containers.contains("UUID"))
    }
}
