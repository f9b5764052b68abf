// Tests of changes to a container while it is backed up.

import BackingStore
import BackupModel
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct BackupMeanwhileTests {
    let scratch = Scratch()
    let notes = id("com.example.Notes")
    let backup = MemoryBackup()

    private func make(passcode: String? = nil) throws -> BootedDevice {
        let device = try scratch.makeDevice(passcode: passcode)
        if let passcode { try device.open(passcode) }
        _ = try device.install(sampleApp)
        return device
    }

    private func documents(_ device: BootedDevice) throws -> String {
        try device.backingPath(of: notes, .data) + "/Documents"
    }

    private func write(
        _ device: BootedDevice, _ path: String, _ content: UInt8..., protection: ProtectionClass = .standard,
        length: Int64? = nil
    ) throws {
        try device.writeEncrypted(
            documents(device) + "/" + path, content, protection: protection, length: length)
    }

    private func backUp(
        _ device: BootedDevice, openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> BackupTally {
        var sink = backup.sink
        return try device.backUp(BackupOrder(), into: &sink, openFile: openFile, progress: progress)
    }

    private var names: [String] { backup.items.map(\.entry.path.text).filter { $0.hasPrefix("Documents/") } }

    @Test(arguments: ["uninstalled", "reset", "restored"])
    func `of a container that goes there is no backup`(how: String) throws {
        let device = try make()
        try write(device, "a", 1)
        try write(device, "b", 2)
        let earlier = MemoryBackup()
        var sink = earlier.sink
        _ = try device.backUp(BackupOrder(), into: &sink)
        backup.meanwhile["Documents/a"] = {
            switch how {
            case "uninstalled": try device.uninstall(notes)
            case "reset": try device.reset(notes)
            default:
                var source = earlier.source
                _ = try device.restore(from: &source, replacing: [notes])
            }
        }
        let refusal = complaint { _ = try backUp(device) }
        #expect(refusal?.kind == .inUse)
        #expect(refusal?.message.contains("AppDomain-com.example.Notes") == true)
        #expect(!backup.isFinished)
    }

    @Test func `an update goes on beside it`() throws {
        let device = try make()
        try write(device, "a", 1)
        try write(device, "b", 2)
        backup.meanwhile["Documents/a"] = { _ = try device.install(sampleApp) }
        _ = try backUp(device)
        #expect(names == ["Documents/a", "Documents/b"])
    }

    @Test(arguments: ["ln -s / d", "mkfifo d", "touch d"])
    func `a directory whose name something else takes is gone`(command: String) throws {
        let device = try make()
        let documents = try documents(device)
        try shell("mkdir -p '\(documents)/d/s'")
        for path in ["d/s/x", "d/y", "z"] { try write(device, path, 1) }
        backup.meanwhile["Documents/d/s/x"] = { try shell("cd '\(documents)' && rm -r d && \(command)") }
        _ = try backUp(device)
        #expect(names == ["Documents/d", "Documents/d/s", "Documents/d/s/x", "Documents/z"])
    }

    @Test(arguments: [
        "ln -s / a", "mkfifo a", "mkdir a", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"a\")'",
    ])
    func `a file whose name something else takes is gone`(command: String) throws {
        let device = try make()
        let documents = try documents(device)
        try write(device, "a", 1)
        try write(device, "b", 2)
        let inode = try Descriptor.open(path: documents + "/a", flags: O_RDONLY).status().inode
        let tally = try backUp(
            device,
            openFile: { asked in
                if asked == inode { try! shell("cd '\(documents)' && rm a && \(command)") }
                return nil
            })
        #expect(names == ["Documents/b"])
        #expect(tally.files == 1)
    }

    @Test func `a further name is one of a file that still has the first`() throws {
        let device = try make()
        let documents = try documents(device)
        try write(device, "a", 7)
        try shell("cd '\(documents)' && ln a b && ln a ../tmp/c")
        backup.meanwhile["Documents/a"] = { try shell("rm '\(documents)/a'") }
        _ = try backUp(device)
        #expect(backup.item("AppDomain-com.example.Notes/Documents/b")?.content == [7])
    }

    @Test func `a file that is open while the device is locked is backed up as ciphertext`() throws {
        let device = try make(passcode: "1234")
        try write(device, "closed", 1, 2, 3, protection: .complete)
        let path = try documents(device) + "/closed"
        let open = try EncryptedFile.open(
            SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR)), isWritable: true, context: device.context)
        device.beginLocking()
        device.closeToNew()
        device.context.openFiles.close()
        device.takeKeys()
        let tally = try backUp(device, openFile: { inode -> EncryptedFile? in inode == open.inode ? open : nil })
        #expect(tally.sealed == 1)
        let content = try #require(backup.item("AppDomain-com.example.Notes/Documents/closed")?.content)
        // The proof of its origin follows.
        let ciphertext = [UInt8](try Data(contentsOf: URL(filePath: path)))
        #expect(Array(content.dropLast(Int(SealedOrigin.length))) == ciphertext)
    }

    /// Opens a file for writing, which was written last at a known time, and changes its content.
    private func change(_ device: BootedDevice, _ name: String, lastWritten time: timespec) throws -> EncryptedFile {
        let backing = try Descriptor.open(path: documents(device) + "/" + name, flags: O_RDWR)
        try backing.changeTimes(access: time, modification: time)
        let file = try EncryptedFile.open(SharedDescriptor(backing), isWritable: true, context: device.context)
        let buffer = PageBuffer(count: 1)
        try buffer.withBytes(0, count: 1) { (bytes) throws(Fault) in _ = try file.write(bytes, at: 0) }
        return file
    }

    @Test(arguments: [true, false])
    func `a file that is closed meanwhile has the time of its last write`(isStillOpen: Bool) throws {
        let device = try make()
        try write(device, "f", 1)
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 7)
        let file = try change(device, "f", lastWritten: timespec(tv_sec: 900_000_000, tv_nsec: 1))
        file.keep(modificationTime: time)
        _ = try backUp(
            device,
            openFile: { inode in
                guard inode == file.inode else { return nil }
                // The walk has looked at the file by now.
                try! file.commit()
                return isStillOpen ? file : nil
            })
        let found = try #require(backup.item("AppDomain-com.example.Notes/Documents/f")?.entry.modificationTime)
        #expect(found.tv_sec == time.tv_sec && found.tv_nsec == time.tv_nsec)
    }

    @Test func `a file written within the tick of its last write has the time that the close gives it`() throws {
        let device = try make()
        try write(device, "f", 1)
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 7)
        let file = try change(device, "f", lastWritten: time)
        _ = try backUp(device, openFile: { inode in inode == file.inode ? file : nil })
        let found = try #require(backup.item("AppDomain-com.example.Notes/Documents/f")?.entry.modificationTime)
        #expect(found.tv_sec == time.tv_sec && found.tv_nsec == time.tv_nsec)
        try file.commit()
        let onHost = try file.backing.descriptor.status().modificationTime
        #expect(onHost.tv_sec == time.tv_sec && onHost.tv_nsec == time.tv_nsec)
    }

    @Test func `it can be given up in the middle of a hole`() throws {
        let device = try make()
        try write(device, "hole", 1, length: 8 << 30)
        var calls = 0
        let refusal = complaint {
            _ = try backUp(
                device,
                progress: { _ in
                    calls += 1
                    return calls < 50
                })
        }
        #expect(refusal == Complaint.cancelled)
        #expect(calls == 50)
    }
}
