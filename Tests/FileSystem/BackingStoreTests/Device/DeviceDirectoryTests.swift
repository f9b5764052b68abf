// Creating, recognizing and locking a device directory, and its records.

import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct DeviceDirectoryTests {
    let scratch = Scratch()

    @Test func `create makes a private directory with private secrets and nothing beside it`() throws {
        let device = try scratch.makeDevice()
        #expect(scratch.names == ["device"])
        #expect(
            try shell("cd \(device.path) && find . -printf '%P %m\\n' | LC_ALL=C sort") == """
                 700
                Apps.json 600
                Containers 700
                Containers/Bundle 700
                Containers/Bundle/Application 700
                Containers/Data 700
                Containers/Data/Application 700
                Containers/Mobile Documents 700
                Containers/Shared 700
                Containers/Shared/AppGroup 700
                Device.json 600
                Keybag 600
                Sessions.json 600
                Staging 700
                Trash 700
                UID.key 600
                lock 600

                """)
        #expect(try device.keybag() == [1, 2, 3])
        #expect(try device.uidKey().exported().count == 32)
        #expect(try device.apps() == [])
    }

    @Test func `two devices have different keys and UUIDs`() throws {
        let first = try scratch.makeDevice("first")
        let second = try scratch.makeDevice("second")
        #expect(first.uuid != second.uuid)
        #expect(try HostPath.contents(scratch["first/UID.key"]) != HostPath.contents(scratch["second/UID.key"]))
    }

    @Test func `an empty directory becomes the device, anything else is left alone`() throws {
        try shell("mkdir \(scratch["empty"]) \(scratch["full"]); touch \(scratch["full/x"]) \(scratch["file"])")
        _ = try scratch.makeDevice("empty/")
        for name in ["empty", "full", "file"] {
            #expect(complaint { _ = try scratch.makeDevice(name) }?.kind == .deviceExists)
        }
        #expect(complaint { _ = try scratch.makeDevice("missing/device") }?.kind == .notFound)
        #expect(scratch.names == ["empty", "file", "full"])
    }

    @Test func `a device does not lie within another`() throws {
        let device = try scratch.makeDevice()
        try shell("cd '\(scratch.path)'; ln -s device/Containers link; mkdir project; echo '{}' > project/Device.json")
        let lock = try device.lock()
        for name in ["device/inner", "device/Containers/Data/inner", "link/inner", "device/Staging/../inner"] {
            let refused = complaint { _ = try scratch.makeDevice(name) }
            #expect(refused?.kind == .deviceExists, "\(name)")
            #expect(refused?.message.contains("cannot lie within another") == true)
            let copy = complaint { try device.clone(to: scratch[name], holding: lock) { _ in false } }
            #expect(copy?.kind == .deviceExists, "\(name)")
        }
        #expect(try shell("cd '\(scratch.path)'; find . -name '*inner*'") == "")
        // Another program's file of that name makes no device.
        _ = try scratch.makeDevice("project/device")
    }

    @Test func `the remains of a killed attempt are removed by the next, an attempt under way is not`() throws {
        let remains = ".device.\(ContainerUUID().text)"
        let underWay = ".device.\(ContainerUUID().text)"
        try shell("cd \(scratch.path); mkdir -p \(remains)/Containers \(underWay) .device.other")
        let other = try Descriptor.open(path: scratch[underWay], flags: O_RDONLY | O_DIRECTORY)
        #expect(try other.tryLock())
        _ = try scratch.makeDevice()
        #expect(scratch.names == [underWay, ".device.other", "device"].sorted())
    }

    @Test func `a copy without its empty directories is a device as well`() throws {
        let device = try scratch.makeDevice()
        try shell("rm -r \(device.path)/Containers \(device.path)/Staging")
        let lock = try device.lock()
        try device.removeLeftovers(holding: lock)
        for kind in ContainerKind.allCases { _ = try device.containers(kind) }
    }

    @Test func `a keybag that cannot be made leaves nothing behind`() {
        let failure = complaint {
            try DeviceDirectory.create(at: scratch["device"]) { (_) throws(Complaint) in
                throw Complaint(.badRequest, "no")
            }
        }
        #expect(failure?.kind == .badRequest)
        #expect(scratch.names == [])
    }

    @Test func `a path that is no device is refused, each with its kind`() throws {
        #expect(complaint { _ = try DeviceDirectory.open(at: scratch["none"]) }?.kind == .deviceMissing)
        #expect(complaint { _ = try DeviceDirectory.open(at: scratch.path) }?.kind == .notADevice)
        try shell("touch \(scratch["file"])")
        #expect(complaint { _ = try DeviceDirectory.open(at: scratch["file"]) }?.kind == .notADevice)

        let device = try scratch.makeDevice()
        try shell("sed -i 's/\"format\" : 4/\"format\" : 5, \"more\": []/' \(device.path)/Device.json")
        #expect(complaint { _ = try DeviceDirectory.open(at: device.path) }?.kind == .newerFormat)
        try shell("echo nonsense > \(device.path)/Device.json")
        #expect(complaint { _ = try DeviceDirectory.open(at: device.path) }?.kind == .damaged)
    }

    @Test func `one process at a time holds a device`() throws {
        let device = try scratch.makeDevice()
        do {
            let lock = try device.lock()
            // flock belongs to the open file, so a second opening stands for a second process.
            #expect(complaint { _ = try DeviceDirectory.open(at: device.path).lock() }?.kind == .deviceBusy)
            withExtendedLifetime(lock) {}
        }
        _ = try device.lock()
    }

    @Test func `records keep what was put into them`() throws {
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        let app = InstalledApp.sample("com.example.Notes")
        try device.replaceRegistry(AppRegistry(apps: [app]), holding: lock)
        try device.replaceKeybag(with: [9, 9], holding: lock)
        let reopened = try DeviceDirectory.open(at: device.path)
        #expect(try reopened.apps() == [app])
        #expect(try reopened.keybag() == [9, 9])
        #expect(reopened.uuid == device.uuid)
    }

    @Test(arguments: ["../../etc", "a/b", ".", ""])
    func `a registry that names a place outside the device is damaged`(name: String) throws {
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        try device.replaceRegistry(AppRegistry(apps: [InstalledApp.sample("com.example.Notes")]), holding: lock)
        for field in ["bundleName", "data", "identifier"] {
            let original = try HostPath.contents("\(device.path)/Apps.json")
            let pattern = "s|\"\(field)\" : \"[^\"]*\"|\"\(field)\" : \"\(name)\"|"
            try shell("sed -i '\(pattern)' \(device.path)/Apps.json")
            #expect(complaint { _ = try device.apps() }?.kind == .damaged)
            // Nothing is taken for a leftover when it is not known what is installed.
            #expect(complaint { try device.removeLeftovers(holding: lock) }?.kind == .damaged)
            try device.replace(DeviceDirectory.Name.apps, with: original)
        }
    }

    @Test func `a device that is being removed gets no record any more`() throws {
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        _ = try device.beginSession(holding: lock)
        for name in ["Sessions.json", "Keybag", "Device.json"] { try shell("rm \(device.path)/\(name)") }
        let rest = try shell("cd \(device.path) && find . | LC_ALL=C sort")
        let calls: [() throws -> Void] = [
            { try device.endSession(holding: lock) },
            { try device.replaceKeybag(with: [1], holding: lock) },
            { try device.changeSettings(holding: lock) { _ in } },
        ]
        for call in calls {
            #expect { try call() } throws: { ($0 as? Complaint)?.message.contains("No such file") == true }
        }
        #expect(try shell("cd \(device.path) && find . | LC_ALL=C sort") == rest)
    }

    @Test func `leftovers are removed, and installed apps stay`() throws {
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        let app = InstalledApp.sample("com.example.Notes")
        try device.replaceRegistry(AppRegistry(apps: [app]), holding: lock)
        let kept = device.path(of: .data, app.data)
        let orphan = device.path(of: .data, ContainerUUID())
        let orphanGroup = device.path(of: .group, ContainerUUID())
        try shell("mkdir -p \(kept)/Documents '\(orphan)/Documents/a/b/c' '\(orphanGroup)' \(device.path)/Staging/x/y")
        try shell("touch '\(orphan)/Documents/a/b/c/d' \(device.path)/Staging/x/y/z; chmod 0 '\(orphan)/Documents/a'")
        #expect(try device.leftovers().count == 3)
        #expect(try device.removeLeftovers(holding: lock) == 3)
        #expect(try device.leftovers() == [])
        let left = try shell("cd \(device.path) && find Staging Containers -mindepth 4")
        #expect(left.split(separator: "\n").count == 1)
        #expect(FileManager.default.fileExists(atPath: "\(kept)/Documents"))
        #expect(!FileManager.default.fileExists(atPath: orphan))
    }
}

extension InstalledApp {
    static func sample(_ identifier: String) -> InstalledApp {
        InstalledApp(
            identifier: ContainerIdentifier(identifier)!, bundleName: "Notes.app", displayName: "Notes", version: "1.0",
            build: "7", executable: "Notes", sharesDocuments: true, signature: nil, bundle: ContainerUUID(),
            data: ContainerUUID(),
            groups: [SharedContainerRecord(identifier: ContainerIdentifier("group.a")!, uuid: ContainerUUID())],
            iCloud: [SharedContainerRecord(identifier: ContainerIdentifier("iCloud.a")!, uuid: ContainerUUID())],
            owner: 1000, ownerGroup: 1001)
    }
}
