// Tests of a check: it finds every place that does not authenticate, and nothing else.

import BackingStore
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

/// Overwrites a part of a file.
private let put = "dd conv=notrunc status=none"

/// Of the sample app, with its signature.
private let bundleFiles = 7

@Suite struct CheckTests {
    let scratch = Scratch()
    let notes = id("com.example.Notes")

    /// A device with one app, a group, and delivered files of several sizes.
    private func makeFilledDevice(passcode: String? = nil) throws -> BootedDevice {
        let device = try scratch.makeDevice(passcode: passcode)
        if let passcode { try device.open(passcode) }
        _ = try device.install(sampleApp, groups: [id("group.a")])
        try shell(
            """
            cd '\(scratch.path)'; mkdir bag; head -c 1000000 /dev/urandom > bag/large; printf x > bag/small; : > bag/empty
            truncate -s 3G bag/sparse; printf x | dd of=bag/sparse bs=1 seek=2147483648 conv=notrunc status=none
            """)
        _ = try device.deliver([scratch["bag"]], to: notes)
        return device
    }

    private func bag(_ device: BootedDevice) throws -> String {
        try device.backingPath(of: notes, .data) + "/Documents/Inbox/bag"
    }

    @Test func `a whole device has no problems`() throws {
        let device = try makeFilledDevice()
        var last: DeviceProgress?
        let check = try device.check(
            progress: { progress in
                last = progress
                return true
            })
        #expect(check.problems == [])
        #expect(check.files == 5 + bundleFiles)
        #expect(check.unreadable == 0)
        #expect(last?.completed == last?.total)
        #expect(complaint { _ = try device.check(progress: { _ in false }) }?.kind == .unexpected)
    }

    @Test func `a session whose record is forged lets no cut file pass, and the check names both`() throws {
        let place: String
        do {
            let device = try makeFilledDevice()
            place = try bag(device)
            try device.shutDown()
        }
        // All earlier sessions are said to have lost power, at any time.
        try shell(
            """
            cd '\(scratch.device)' && sed -i 's/"powerLost" : \\[/&1,2/;/"authentication"/d' Sessions.json
            truncate -s -5000 '\(place)/large'; truncate -s 0 '\(place)/small'
            head -c 4096 /dev/zero | dd of='\(place)/sparse' conv=notrunc status=none
            """)
        let reports = Mutex<[Corruption]>([])
        let device = try BootedDevice.boot(at: scratch.device) { corruption in
            reports.withLock { $0.append(corruption) }
        }
        #expect(reports.withLock { $0 } == [.ofRecord(DeviceDirectory.Name.sessions)])
        let problems = try device.check().problems.map { "\($0.container) \($0.path.split(separator: "/").last!)" }
        #expect(
            problems.sorted() == [
                "com.example.Notes large", "com.example.Notes small", "com.example.Notes sparse",
                "device Sessions.json",
            ])
    }

    @Test(arguments: ["Device.json", "Apps.json"])
    func `a device whose records are forged does not boot`(name: String) throws {
        do { try makeFilledDevice().shutDown() }
        try shell("cd '\(scratch.device)' && sed -i 's/Notes/Nodes/;s/: 4,/: 2,/' \(name)")
        let said = complaint { _ = try scratch.boot() }
        #expect(said?.kind == .damaged && said?.message.contains(name) == true)
    }

    @Test(arguments: [
        (changingByte(of: "large", at: 100), "large", "the header does not authenticate"),
        (": > small", "small", "the header does not authenticate"),
        ("truncate -s 4096 large", "large", "the backing file is not as long as its header says"),
        ("truncate -s -1 large", "large", "the backing file is not as long as its header says"),
        ("printf zzzz | \(put) bs=1 seek=20000 of=large", "large", "block 3 does not authenticate"),
        ("\(put) if=/dev/zero bs=4096 seek=2 count=2 of=large", "large", "blocks 1 to 2 do not authenticate"),
        // The second group's tag page: the first group has 65 pages, and a map has its place after them.
        ("\(put) if=/dev/zero bs=4096 seek=66 count=1 of=large", "large", "blocks 64 to 127 do not authenticate"),
    ])
    func `damage is named by file and place`(script: String, path: String, message: String) throws {
        let device = try makeFilledDevice()
        try shell("cd '\(bag(device))'; \(script)")
        let check = try device.check(repair: true)
        #expect(
            check.problems == [
                DeviceCheck.Problem(
                    container: "com.example.Notes", path: "Documents/Inbox/bag/\(path)", message: message)
            ])
        #expect(check.repaired == [])
        #expect(check.files == 5 + bundleFiles)
    }

    @Test func `a block that was copied to another place is found out`() throws {
        let device = try makeFilledDevice()
        try shell("cd '\(bag(device))'; \(put) if=large of=large bs=4096 skip=1 seek=9 count=1")
        #expect(try device.check().problems.map(\.message) == ["block 8 does not authenticate"])
    }

    @Test func `a missing container and what was left over are problems; repair clears the latter`() throws {
        let device = try makeFilledDevice()
        let group = try device.backingPath(of: notes, .shared(id("group.a")))
        try shell("rm -r '\(group)'; mkdir '\(scratch.device)/Staging/x'")
        let check = try device.check()
        #expect(check.problems.map(\.container) == ["device", "group.a"])
        #expect(check.problems[0].path == "Staging/x")
        let repaired = try device.check(repair: true)
        #expect(repaired.problems.map(\.container) == ["group.a"])
        #expect(repaired.repaired.map(\.path) == ["Staging/x"])
        #expect(try device.check().problems.count == 1)
    }

    @Test func `before first unlock what is closed is counted, not reported`() throws {
        do {
            let device = try makeFilledDevice(passcode: "1234")
            try device.shutDown()
        }
        let device = try scratch.boot()
        let check = try device.check()
        #expect(check.problems == [])
        #expect(check.unreadable == 4)
        #expect(check.files == 1 + bundleFiles)
    }

    @Test func `a file that denies its own user is looked at and keeps its mode`() throws {
        let device = try makeFilledDevice()
        try shell("cd '\(bag(device))'; chmod 0 small; chmod 0 .")
        #expect(try device.check().files == 5 + bundleFiles)
        let modes = try shell("cd '\(bag(device))/..'; stat -c %a bag; chmod 700 bag; stat -c %a bag/small")
        #expect(modes == "0\n0\n")
    }

    @Test func `a file that is being written is checked through its open file`() throws {
        let device = try makeFilledDevice()
        let path = try bag(device) + "/large"
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR))
        let content = try EncryptedFile.open(file, isWritable: true, context: device.context)
        let page = PageBuffer(count: 4096)
        try page.withBytes(0, count: 4096) { _ = try content.write($0, at: 10_000_000) }
        let check = try device.check(openFile: { $0 == content.inode ? content : nil })
        #expect(check.problems == [])
        try content.commit()
        #expect(try device.check().problems == [])
    }
}
