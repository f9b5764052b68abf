// Installing: what is on the device afterwards, what is refused, and that a kill leaves all of it or nothing.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct InstallTests {
    let scratch = Scratch()

    @Test func `an installed app has its bundle and its standard directories, no more`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(
            sampleApp, groups: [id("group.b"), id("group.a"), id("group.b")], iCloud: [id("iCloud.a")])
        #expect(app.identifier.text == "com.example.Notes")
        #expect(app.displayName == "Notes")
        #expect(app.version == "1.2")
        #expect(app.groups.map(\.identifier.text) == ["group.a", "group.b"])
        #expect(
            scratch.containers.filter { !$0.contains("Notes.app/") } == [
                "Bundle", "Bundle/Application", "Bundle/Application/UUID", "Bundle/Application/UUID/Digests",
                "Bundle/Application/UUID/HashTrees", "Bundle/Application/UUID/Notes.app", "Data", "Data/Application",
                "Data/Application/UUID",
                "Data/Application/UUID/.com.apple.mobile_container_manager.metadata.plist",
                "Data/Application/UUID/Documents", "Data/Application/UUID/Library",
                "Data/Application/UUID/Library/Caches", "Data/Application/UUID/Library/Preferences",
                "Data/Application/UUID/tmp", "Mobile Documents", "Mobile Documents/UUID", "Shared", "Shared/AppGroup",
                "Shared/AppGroup/UUID", "Shared/AppGroup/UUID", "Shared/AppGroup/UUID/Library",
                "Shared/AppGroup/UUID/Library", "Shared/AppGroup/UUID/Library/Caches",
                "Shared/AppGroup/UUID/Library/Caches",
            ])
        let bundle = try device.backingPath(of: app.identifier, .app)
        try shell("diff -r --exclude _CodeSignature '\(sampleApp)' '\(bundle)'")
        #expect(try device.directory.apps() == [app])
        #expect(device.apps == [app])
    }

    @Test func `the metadata names the container, encrypted, and readable before first unlock`() throws {
        let device = try scratch.makeDevice(passcode: "1234")
        let app = try device.install(sampleApp)
        let path = try device.backingPath(of: app.identifier, .data) + "/" + HomeLayout.metadata.text
        struct Metadata: Decodable, Equatable {
            var identifier, uuid: String
            var contentClass, schemaVersion: Int

            private enum CodingKeys: String, CodingKey {
                case identifier = "MCMMetadataIdentifier"
                case uuid = "MCMMetadataUUID"
                case contentClass = "MCMMetadataContentClass"
                case schemaVersion = "MCMMetadataSchemaVersion"
            }
        }
        let metadata = try PropertyListDecoder().decode(Metadata.self, from: Data(try device.content(of: path)))
        #expect(
            metadata
                == Metadata(
                    identifier: "com.example.Notes", uuid: app.data.text, contentClass: 2, schemaVersion: 1))
        #expect(!String(decoding: try HostPath.contents(path), as: UTF8.self).contains("com.example"))
    }

    // S-META-1
    @Test func `the metadata has the keys of a phone's`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp, owner: .current)
        let path = try device.backingPath(of: app.identifier, .data) + "/" + HomeLayout.metadata.text
        let list = try unsafe PropertyListSerialization.propertyList(
            from: Data(try device.content(of: path)), format: nil)
        let metadata = try #require(list as? [String: Any])
        #expect(
            metadata.keys.sorted() == [
                "MCMMetadataActiveDPClass", "MCMMetadataContentClass", "MCMMetadataCreator", "MCMMetadataIdentifier",
                "MCMMetadataInfo", "MCMMetadataSchemaVersion", "MCMMetadataUUID", "MCMMetadataUserIdentity",
                "MCMMetadataVersion",
            ])
        let identity = try #require(metadata["MCMMetadataUserIdentity"] as? [String: Any])
        #expect(identity["posixUID"] as? Int == Int(geteuid()) && identity["type"] as? Int == 0)
        #expect(identity["personaUniqueString"] as? String == device.directory.uuid)
        let classes = [ProtectionClass.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .none]
        let numbers = classes.map { protection in
            ContainerMetadata(
                app: app.identifier, uuid: app.data, owner: .current, protection: protection, device: "x"
            ).xml.components(separatedBy: "ActiveDPClass</key>\n\t<integer>")[1].first
        }
        #expect(numbers == ["1", "2", "0", "4"])
    }

    @Test func `modes, times and links of a bundle are kept, set-user-ID is not`() throws {
        let path = try scratch.makeApp(
            "Notes",
            identifier: "com.example.Notes",
            """
            chmod 4755 Notes; chmod 0444 Samples/Welcome.txt; mkdir -p a/b; ln -s b/../../Info.plist a/link; chmod 0555 a/b
            ln -s Info.plist again; ln -s missing dangling; ln -s loop loop; ln -s ./a/.. top
            truncate -s 100M sparse; touch -d '2001-02-03 04:05:06.7' Notes a/b
            """)
        let device = try scratch.makeDevice()
        let app = try device.install(path)
        let bundle = try device.backingPath(of: app.identifier, .app)
        let look = "stat -c '%a %.1Y' Notes a/b; stat -c %a Samples/Welcome.txt; readlink a/link dangling loop top"
        #expect(
            try shell("cd '\(bundle)'; \(look)") == """
                755 981173106.7
                555 981173106.7
                444
                b/../../Info.plist
                missing
                loop
                ./a/..

                """)
        #expect(Int(try shell("du -k '\(bundle)' | tail -1 | cut -f1").dropLast())! < 1000)
        try device.uninstall(app.identifier)
        #expect(scratch.containers == emptyDevice)
    }

    @Test(arguments: [
        "ln -s /etc/passwd out", "ln -s ../outside out", "mkdir a; ln -s ../../x a/out", "ln -s .. out",
        "mkdir -p a/b; ln -s ../.. a/b/top; ln -s a/b/top/.. out", "ln -s up/.. out; ln -s . up; ln -sfn .. up",
        "ln -s one out; ln -s two one; ln -s /etc two",
    ])
    func `a symbolic link out of the bundle is refused`(script: String) throws {
        let device = try scratch.makeDevice()
        let path = try scratch.makeApp("Notes", identifier: "com.example.Notes", script)
        let failure = complaint { _ = try device.install(path) }
        #expect(failure?.kind == .invalidApp)
        #expect(failure?.message.contains("symbolic link out of the bundle") == true)
    }

    @Test(arguments: [
        ("mkfifo pipe", Complaint.Kind.invalidApp), ("rm Info.plist", .invalidApp),
        ("echo x > Info.plist", .invalidApp),
        ("sed -i 's/com.example.Notes/a..b/' Info.plist", .invalidIdentifier),
        ("sed -i 's|com.example.Notes|../x|' Info.plist", .invalidIdentifier),
    ])
    func `an invalid bundle is refused in one line and leaves nothing`(
        script: String, kind: Complaint.Kind
    ) throws {
        let device = try scratch.makeDevice()
        let path = try scratch.makeApp("Notes", identifier: "com.example.Notes", script)
        #expect(complaint { _ = try device.install(path) }?.kind == kind)
        #expect(scratch.containers == emptyDevice)
    }

    @Test func `a folder, a plain file and a missing path are refused, each with its kind`() throws {
        let device = try scratch.makeDevice()
        try shell("mkdir '\(scratch["folder"])'; touch '\(scratch["file.app"])'")
        #expect(complaint { _ = try device.install(scratch["folder"]) }?.kind == .invalidApp)
        #expect(complaint { _ = try device.install(scratch["file.app"]) }?.kind == .invalidApp)
        #expect(complaint { _ = try device.install(scratch["none.app"]) }?.kind == .notFound)
    }

    @Test func `a cancelled install leaves nothing`() throws {
        let device = try scratch.makeDevice()
        #expect(complaint { _ = try device.install(sampleApp, progress: { _ in false }) } == .cancelled)
        #expect(scratch.containers == emptyDevice)
        #expect(device.apps == [])
        var last: DeviceProgress?
        let follow: (DeviceProgress) -> Bool = { progress in
            last = progress
            return true
        }
        _ = try device.install(sampleApp, progress: follow)
        #expect(last?.completed == last?.total)
    }

    @Test func `a group is shared by the apps that have it and goes with the last`() throws {
        let device = try scratch.makeDevice()
        let first = try device.install(sampleApp, groups: [id("group.a")])
        let other = try scratch.makeApp("Other", identifier: "com.example.Other")
        let second = try device.install(other, groups: [id("group.a"), id("group.b")], iCloud: [id("group.a")])
        #expect(first.groups[0] == second.groups[0])
        #expect(second.iCloud[0].uuid != second.groups[0].uuid, "a group and an iCloud container are two containers")
        let group = try device.backingPath(of: first.identifier, .shared(id("group.a")))
        try device.uninstall(first.identifier)
        #expect(FileManager.default.fileExists(atPath: group))
        try device.uninstall(second.identifier)
        #expect(!FileManager.default.fileExists(atPath: group))
        #expect(scratch.containers == emptyDevice)
    }

    @Test(.enabled(if: isRoot, "giving files away takes root"))
    func `containers belong to the owner, a group to its first app's owner`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp, groups: [id("group.a")], owner: ContainerOwner(user: 1234, group: 567))
        let other = try scratch.makeApp("Other", identifier: "com.example.Other")
        _ = try device.install(other, groups: [id("group.a")], owner: ContainerOwner(user: 99, group: 99))
        let data = try device.backingPath(of: app.identifier, .data)
        let group = try device.backingPath(of: app.identifier, .shared(id("group.a")))
        #expect(try shell("find '\(data)' '\(group)' -printf '%U:%G\\n' | sort -u") == "1234:567\n")
        #expect(device.apps[0].owner == 1234)
    }

    @Test(.enabled(if: isRoot, "mounting takes root"))
    func `a host without space is named as such, and existing content stays`() throws {
        let point = scratch["small"]
        try shell("mkdir '\(point)' && mount -t tmpfs -o size=1m none '\(point)'")
        defer { _ = try? shell("umount '\(point)'") }
        try StoredDevice.create(at: "\(point)/device")
        let large = try scratch.makeApp("Large", identifier: "com.example.Large", "head -c 2M /dev/urandom > large")
        do {
            let device = try BootedDevice.boot(at: "\(point)/device", report: { _ in })
            let app = try device.install(sampleApp)
            #expect(complaint { _ = try device.install(large) }?.kind == .noSpace)
            #expect(complaint { _ = try device.deliver([large], to: app.identifier) }?.kind == .noSpace)
            #expect(try device.check() == device.check(repair: true), "nothing is left over")
            #expect(device.apps == [app])
            try device.shutDown()
        }
        #expect(complaint { try StoredDevice.clone("\(point)/device", to: "\(point)/copy") } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: point).sorted() == ["copy", "device"])
    }

    /// Counts milestones and kills the process at one of them.
    static func lethal(_ number: Int) -> @Sendable (Milestone) -> Void {
        let count = Mutex(0)
        return { _ in
            let now = count.withLock { count in
                count += 1
                return count
            }
            if now == number { kill(getpid(), SIGKILL) }
        }
    }

    @Test(arguments: 1...11)
    func `killed at any step, the app is installed or it is not there`(step: Int) async throws {
        do { try scratch.makeDevice().shutDown() }
        let path = scratch.path
        let device = scratch.device
        await #expect(processExitsWith: .signal(SIGKILL)) { [device = device as String, step = step as Int] in
            let device = try BootedDevice.boot(at: device, report: { _ in }, reached: InstallTests.lethal(step))
            _ = try device.install(
                sampleApp, groups: [ContainerIdentifier("group.a")!], iCloud: [ContainerIdentifier("iCloud.a")!])
        }
        withExtendedLifetime(path) {}
        let after = try scratch.boot()
        #expect(after.session.start == .afterKill)
        if step < 11 {
            #expect(after.apps == [])
            #expect(scratch.containers == emptyDevice, "left over: \(scratch.containers)")
            _ = try after.install(sampleApp, groups: [id("group.a")])
        } else {
            #expect(after.apps.map(\.identifier.text) == ["com.example.Notes"])
            #expect(scratch.containers.contains("Data/Application/UUID/tmp"))
            let app = id("com.example.Notes")
            try shell("diff -r --exclude _CodeSignature '\(sampleApp)' '\(after.backingPath(of: app, .app))'")
        }
    }

    @Test func `those were all the steps`() throws {
        do { try scratch.makeDevice().shutDown() }
        let reached = Mutex<[Milestone]>([])
        let device = try scratch.boot { milestone in reached.withLock { $0.append(milestone) } }
        _ = try device.install(sampleApp, groups: [id("group.a")], iCloud: [id("iCloud.a")])
        #expect(
            reached.withLock { $0 } == [
                .stagedBundle, .sealedBundle, .stagedData, .stagedShared, .synchronized, .movedOne, .movedOne,
                .movedOne, .movedOne, .moved, .registered,
            ])
    }

    @Test(arguments: 1...3)
    func `killed while it uninstalls, the app is gone without a trace`(step: Int) async throws {
        do {
            let device = try scratch.makeDevice()
            _ = try device.install(sampleApp, groups: [id("group.a")])
            try device.shutDown()
        }
        let device = scratch.device
        await #expect(processExitsWith: .signal(SIGKILL)) { [device = device as String, step = step as Int] in
            let device = try BootedDevice.boot(at: device, report: { _ in }, reached: InstallTests.lethal(step))
            try device.uninstall(ContainerIdentifier("com.example.Notes")!)
        }
        let after = try scratch.boot()
        #expect(after.apps == [])
        #expect(scratch.containers == emptyDevice)
    }
}
