// Files that a killed process left, opened again.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("Recovery after a killed process")
struct RecoveryTests {
    /// An empty backing file, as a process leaves it that is killed before the header is in it.
    private func leave(_ name: String, in home: TestHome, mode: mode_t = 0o644, changedAfter seconds: Int = 0) throws {
        let file = try Descriptor.open(
            path: "\(home.directory)/data/Documents/\(name)", flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
        var time = try file.birthTime()
        time.tv_sec += seconds
        // Within the write of the header the host has set the time, and nothing else.
        time.tv_nsec = min(time.tv_nsec + 900_000, 999_999_999)
        try file.changeTimes(access: time, modification: time)
    }

    @Test(
        "A file whose creation was cut short is empty, and one like any other from then on", arguments: [0o644, 0o444])
    func unfinishedCreation(mode: Int) throws {
        let home = try TestHome()
        try leave("file", in: home, mode: mode_t(mode))
        try home.restart(killed: true)
        let volume = home.volume
        let node = try volume.node("Documents/file")
        #expect(try volume.status(of: node, handle: nil).size == 0)
        #expect(try volume.bytes(of: node) == [])
        // Read by one who had it open before it was written to.
        let reader = try volume.open(node, flags: O_RDONLY)
        let writer = try volume.open(node, flags: O_WRONLY)
        try volume.write(writer, Array("text".utf8), at: 0)
        #expect(try volume.text(reader) == "text")
        volume.close(writer)
        volume.close(reader)
        try home.restart()
        #expect(try home.volume.text("Documents/file") == "text")
    }

    @Test("A file that was cut to nothing is not taken for one")
    func cutToNothing() throws {
        let home = try TestHome()
        try leave("file", in: home, changedAfter: 60)
        try leave("fresh", in: home)
        // Without a kill there is no creation that was cut short.
        #expect(throws: Fault.corrupt) { try home.volume.text("Documents/fresh") }
        try home.restart(killed: true)
        #expect(throws: Fault.corrupt) { try home.volume.text("Documents/file") }
        #expect(try home.volume.text("Documents/fresh") == "")
    }
}
