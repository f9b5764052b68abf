// Library/Caches that the system has taken away: it is gone at once, and the app makes it anew.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("Library/Caches that is gone")
struct CachesRemovalTests {
    private func library(_ path: String) throws -> Descriptor {
        try Descriptor.open(path: "\(path)/Library", flags: O_RDONLY | O_DIRECTORY)
    }

    // S-CAPRICE-3
    @Test func `it is gone at once, and is the system's again when the app has made it`() throws {
        let home = try TestHome()
        let volume = home.volume
        let parent = try volume.node("Library")
        let caches = try volume.node("Library/Caches")
        try volume.removeEmptyDirectory("Caches", from: library("\(home.directory)/data"))
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("Caches", in: parent) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.make("new", in: caches, "x") }
        // Nothing but a directory takes its place.
        #expect(throws: Fault.refused(.standardDirectory)) { try volume.make("Caches", in: parent, "x") }
        let anew = try volume.makeDirectory("Caches", in: parent).node
        #expect(throws: Fault.refused(.standardDirectory)) { try volume.removeDirectory("Caches", in: parent) }
        let mark = Array(BackupMark.attributeName.utf8)
        #expect(try volume.attribute(mark, of: anew) == BackupMark.canonicalValue)
        #expect(throws: Fault.refused(.neverInBackup)) { try volume.removeAttribute(mark, of: anew) }
        try volume.make("file", in: anew, "x")
        home.context.uses.writeDown()
        #expect(try shell("getfattr -d --only-values '\(home.directory)/data/Library/Caches/file'") != "")
    }

    @Test func `one that holds something stays, and so does its content`() throws {
        let home = try TestHome()
        try home.volume.make("file", in: try home.volume.node("Library/Caches"), "text")
        #expect(throws: SystemError(code: ENOTEMPTY)) {
            try home.volume.removeEmptyDirectory("Caches", from: library("\(home.directory)/data"))
        }
        #expect(try home.volume.text("Library/Caches/file") == "text")
    }

    @Test func `a group's is gone in both homes`() throws {
        let homes = try SharedHomes()
        let volume = homes.volume
        let parents = try [0, 1].map { home -> NodeID in
            if home == 0 {
                let library = try volume.makeDirectory("Library", in: try volume.node(homes.group(0))).node
                _ = try volume.makeDirectory("Caches", in: library)
            }
            _ = try volume.node("\(homes.group(home))/Library/Caches")
            return try volume.node("\(homes.group(home))/Library")
        }
        try volume.removeEmptyDirectory("Caches", from: library(homes.host))
        for parent in parents {
            #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("Caches", in: parent) }
            #expect(homes.kernel.forgets("Caches", in: parent))
        }
        _ = try volume.makeDirectory("Caches", in: parents[1])
        _ = try volume.lookup("Caches", in: parents[0])
    }
}
