// Times of files: of writes, of utimensat, and after a close.

import CHostFaults
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("The time of a file's last write")
struct TimeTests {
    private static let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 123_456_789)
    private static let earlier = timespec(tv_sec: 900_000_000, tv_nsec: 1)

    private let home: TestHome
    private let volume: Volume
    private let node: NodeID
    private let handle: Handle

    /// A file that is open for writing, and has been told the time of its last write.
    init() throws {
        home = try TestHome()
        volume = home.volume
        let (entry, handle) = try volume.create("file", in: try volume.node("Documents"))
        try volume.write(handle, Array("text".utf8), at: 0)
        self.node = entry.node
        self.handle = handle
        try set(TimeTests.time)
    }

    private func set(_ time: timespec, access: timespec? = nil) throws {
        var change = FileStatusChange()
        change.modificationTime = .at(time)
        change.accessTime = access.map { .at($0) }
        let shown = try volume.changeStatus(change, of: node, handle: handle)
        #expect(parts(shown.modificationTime) == parts(time))
    }

    private var onHost: timespec {
        get throws {
            try Descriptor.open(path: "\(home.directory)/data/Documents/file", flags: O_RDONLY).status()
                .modificationTime
        }
    }

    @Test("is shown at once, and has not reached the host by fdatasync, which is not for it")
    func shown() throws {
        try volume.synchronize(handle, dataOnly: true)
        #expect(try parts(volume.status(of: node, handle: handle).modificationTime) == parts(TimeTests.time))
        #expect(try parts(volume.status(of: node, handle: nil).modificationTime) == parts(TimeTests.time))
        #expect(try volume.status(of: node, handle: nil).size == 4)
        #expect(try parts(onHost) != parts(TimeTests.time))
        volume.close(handle)
    }

    @Test("stays, if the kernel sends none for a write that came within the tick of the one before")
    func withinTick() throws {
        volume.close(handle)
        let again = try volume.open(node, flags: O_RDWR)
        try volume.write(again, Array("more".utf8), at: 100_000)
        #expect(try parts(volume.status(of: node, handle: nil).modificationTime) == parts(TimeTests.time))
        volume.close(again)
        #expect(try parts(onHost) == parts(TimeTests.time))
    }

    @Test("reaches the host by fsync")
    func synchronized() throws {
        try volume.synchronize(handle, dataOnly: false)
        #expect(try parts(onHost) == parts(TimeTests.time))
        volume.close(handle)
        #expect(try parts(onHost) == parts(TimeTests.time))
    }

    @Test("reaches the host when the last descriptor that can write is closed")
    func closed() throws {
        let reader = try volume.open(node, flags: O_RDONLY)
        volume.close(handle)
        #expect(try parts(onHost) == parts(TimeTests.time))
        volume.close(reader)
        #expect(try parts(volume.status(of: node, handle: nil).modificationTime) == parts(TimeTests.time))
    }

    @Test("reaches the host at close after a growth that left the header open")
    func closedAfterGrowth() throws {
        try volume.write(handle, Array("behind a gap".utf8), at: 1 << 20)
        try set(TimeTests.time)
        volume.close(handle)
        #expect(try parts(onHost) == parts(TimeTests.time))
    }

    @Test("gives way to one that is set together with the time of access")
    func setWithAccessTime() throws {
        try set(TimeTests.earlier, access: TimeTests.time)
        #expect(try parts(onHost) == parts(TimeTests.earlier))
        volume.close(handle)
        #expect(try parts(onHost) == parts(TimeTests.earlier))
        #expect(try parts(volume.status(of: node, handle: nil).raw.st_atim) == parts(TimeTests.time))
    }

    @Test("is on the host at once where an application has set it, though the file is open for writing")
    func setByApplication() throws {
        var change = FileStatusChange()
        change.modificationTime = .at(TimeTests.earlier)
        let shown = try volume.changeStatus(change, of: node, handle: nil)
        #expect(parts(shown.modificationTime) == parts(TimeTests.earlier))
        #expect(try parts(onHost) == parts(TimeTests.earlier))
        volume.close(handle)
        #expect(try parts(onHost) == parts(TimeTests.earlier))
    }

    @Test("goes to the host at once where nobody can write")
    func notOpenForWriting() throws {
        volume.close(handle)
        var change = FileStatusChange()
        change.modificationTime = .at(TimeTests.earlier)
        _ = try volume.changeStatus(change, of: node, handle: nil)
        #expect(try parts(onHost) == parts(TimeTests.earlier))
        let reader = try volume.open(node, flags: O_RDONLY)
        change.modificationTime = .at(TimeTests.time)
        _ = try volume.changeStatus(change, of: node, handle: nil)
        #expect(try parts(onHost) == parts(TimeTests.time))
        volume.close(reader)
    }

    @Test("is not written over a later one by the next close, where the last could not write the header")
    func closedInVain() throws {
        try volume.write(handle, Array("behind a gap".utf8), at: 1 << 20)
        try set(TimeTests.time)
        let reader = try volume.open(node, flags: O_RDONLY)
        faults_arm(faults_fail, 1, EIO)
        volume.close(handle)
        faults_disarm()
        var change = FileStatusChange()
        change.modificationTime = .at(TimeTests.earlier)
        let shown = try volume.changeStatus(change, of: node, handle: nil)
        #expect(parts(shown.modificationTime) == parts(TimeTests.earlier))
        volume.close(try volume.open(node, flags: O_WRONLY))
        #expect(try parts(onHost) == parts(TimeTests.earlier))
        volume.close(reader)
    }

    @Test("does not keep other attributes from being told as they are")
    func otherAttributes() throws {
        var change = FileStatusChange()
        change.mode = 0o600
        #expect(try volume.changeStatus(change, of: node, handle: nil).permissions == 0o600)
        _ = try volume.link(node, to: "other", in: try volume.node("Documents"))
        try set(TimeTests.time)
        let status = try volume.status(of: node, handle: handle)
        #expect(status.linkCount == 2 && status.permissions == 0o600 && status.owner == geteuid())
        #expect(status.kind == .file && status.raw.st_blocks > 0)
        volume.close(handle)
    }
}

/// The parts of a time, which can be compared.
private func parts(_ time: timespec) -> [Int] { [time.tv_sec, time.tv_nsec] }
