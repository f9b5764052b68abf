// Several threads give, take and exchange names of files at random: no file is lost, and all counts are right.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite("A storm of names", .serialized, .timeLimit(.minutes(10)))
struct NameStormTests {
    /// In one home: directories of several kinds, purgeable ones among them.
    @Test("leaves every file under the names that it has, and all counts right", arguments: [true, false])
    func oneHome(replaces: Bool) throws {
        // In memory: a host that allocates later adds blocks of its own, for which nobody asks.
        let home = try TestHome(in: "/dev/shm")
        for name in ["one", "two"] {
            try FileManager.default.createDirectory(
                atPath: "\(home.directory)/data/Documents/\(name)", withIntermediateDirectories: false)
        }
        let space = home.context.space
        space.add(try space.bytes(below: home.data.descriptor))
        let before = home.volume.knownNodes
        let paths = ["Documents/one", "Documents/two", "Library/Caches", "tmp"]
        var storm = NameStorm(
            volume: home.volume, paths: [paths], hosts: paths.map { "\(home.directory)/data/\($0)" },
            seed: replaces ? 1 : 2, replaces: replaces)
        try storm.run(threads: 6, steps: rounds(400, full: 8000))
        try storm.verify()
        #expect(space.used == (try space.bytes(below: home.data.descriptor)))
        #expect(home.volume.knownNodes == before)
        try home.restart()
        storm.volume = home.volume
        try storm.verify()
    }

    @Test("in a group of two homes leaves every file under the names that it has", arguments: [true, false])
    func sharedGroup(replaces: Bool) throws {
        let both = try SharedHomes()
        for name in ["one", "two"] {
            try FileManager.default.createDirectory(
                atPath: "\(both.host)/\(name)", withIntermediateDirectories: false)
        }
        let before = both.volume.knownNodes
        var storm = NameStorm(
            volume: both.volume, paths: [0, 1].map { home in ["one", "two"].map { "\(both.group(home))/\($0)" } },
            hosts: ["one", "two"].map { "\(both.host)/\($0)" }, seed: replaces ? 3 : 4, replaces: replaces)
        try storm.run(threads: 4, steps: rounds(300, full: 6000))
        try storm.verify()
        #expect(both.volume.knownNodes == before)
    }
}
