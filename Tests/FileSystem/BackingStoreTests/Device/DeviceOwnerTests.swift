// The devices that are served, by the owner of their directory and by the directories above it.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct DeviceOwnerTests {
    let scratch = Scratch()

    @Test(.enabled(if: isRoot, "giving a directory away takes root"))
    func `another user's device is refused in a line that names the user and the option`() throws {
        let device = try scratch.makeDevice()
        try shell("chown 54321:54321 \(device.path)")
        let refusal = complaint { _ = try DeviceDirectory.open(at: device.path) }
        #expect(refusal?.kind == .foreignOwner)
        #expect(refusal?.message.contains("belongs to user 54321") == true)
        #expect(refusal?.message.contains("--trust-owner 54321") == true)
    }

    @Test(.enabled(if: isRoot, "giving a directory away takes root"))
    func `a directory that is no device is called so, whoever owns it`() throws {
        try shell("mkdir \(scratch["other"]); chown 54321 \(scratch["other"])")
        #expect(complaint { _ = try DeviceDirectory.open(at: scratch["other"]) }?.kind == .notADevice)
    }

    @Test(.enabled(if: isRoot, "giving a directory away takes root"))
    func `another user's link leads root to no device of his own`() throws {
        let device = try scratch.makeDevice("mine")
        try shell(
            """
            mkdir \(scratch["theirs"]) \(scratch["own"]); ln -s \(device.path) \(scratch["own"])/link
            ln -s \(device.path) \(scratch["theirs"])/link; ln -s \(scratch["theirs"]) \(scratch["way"])
            ln -s . \(scratch["here"])
            chown -h 54321 \(scratch["theirs"]) \(scratch["theirs"])/link
            """)
        for path in ["theirs/link", "way/link", "theirs/../theirs/link"] {
            let refusal = complaint { _ = try DeviceDirectory.open(at: scratch[path]) }
            #expect(refusal?.kind == .foreignOwner)
            #expect(refusal?.message.contains("leads to \(device.path)") == true)
        }
        // Root's own links are followed, and a place in another user's directory is no link.
        for path in ["mine", "own/link", "theirs/../mine"] {
            #expect(throws: Never.self) { try DeviceDirectory.open(at: scratch[path]) }
        }
        _ = try scratch.makeDevice("theirs/device")
        #expect(throws: Never.self) { try DeviceDirectory.open(at: scratch["here/theirs/device"]) }
    }

    @Test func `a device is refused in a directory where any user may put another in its place`() throws {
        try shell("mkdir \(scratch["open"])")
        let device = try scratch.makeDevice("open/device")
        try shell("chmod 777 \(scratch["open"])")
        #expect(complaint { _ = try DeviceDirectory.open(at: device.path) }?.kind == .foreignOwner)
        // With the sticky bit, as /tmp has it, only the owner of a name renames it.
        try shell("chmod 1777 \(scratch["open"])")
        #expect(throws: Never.self) { try DeviceDirectory.open(at: device.path) }
    }

    @Test(arguments: ["Device.json", "Apps.json", "Keybag", "UID.key", "lock"])
    func `a fifo in a record's place is called damaged, and nothing waits`(_ name: String) throws {
        let device = try scratch.makeDevice()
        try shell("cd \(device.path) && rm \(name) && mkfifo \(name)")
        let refusal = complaint {
            let opened = try DeviceDirectory.open(at: device.path)
            _ = try opened.lock()
            _ = try opened.uidKey()
            _ = try opened.keybag()
            _ = try opened.registry()
            _ = try opened.beginSession(holding: try opened.lock())
        }
        #expect(refusal?.kind == .damaged)
        #expect(refusal?.message.contains("regular file") == true)
    }

    @Test func `a record with a second name is not written through`() throws {
        let device = try scratch.makeDevice()
        try shell("cd \(device.path) && ln lock \(scratch["elsewhere"])")
        #expect(complaint { _ = try device.lock() }?.kind == .damaged)
    }
}
