// A group container that two homes show: each home sees the changes of the other.

import ContainerVolume
import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization
import Testing

@Suite("A group's container in two homes")
struct SharedContainerTests {
    @Test("A directory is a node to each home, a file is one to both, and all have one inode number")
    func nodes() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let groups = try [0, 1].map { try volume.node(both.group($0)) }
        let made = try volume.makeDirectory("made", in: groups[0])
        let file = try volume.make("file", in: made.node, "text")
        let seen = try volume.lookup("made", in: groups[1])
        #expect(groups[0] != groups[1] && made.node != seen.node)
        #expect(made.status.inode == seen.status.inode)
        #expect(try volume.lookup("file", in: seen.node).node == file)
        #expect(try volume.text("\(both.group(1))/made/file") == "text")
        #expect(both.path(made.node) == both.group(0) + "/made")
        #expect(both.path(seen.node) == both.group(1) + "/made")
        // A container of one app is one node.
        let documents = try volume.node(both.documents(0))
        #expect(try volume.node(both.documents(0)) == documents)
    }

    @Test("A rename in one home shows in the other", arguments: [true, false])
    func renames(isTargetKnown: Bool) throws {
        let both = try SharedHomes()
        let volume = both.volume
        let first = try volume.node(both.group(0))
        let from = try volume.makeDirectory("from", in: first).node
        let to = try volume.makeDirectory("to", in: first).node
        let deep = try volume.makeDirectory("deep", in: to).node
        _ = try volume.makeDirectory("moved", in: from)
        let inner = try volume.makeDirectory("inner", in: volume.node("\(both.group(0))/from/moved")).node
        let seen = try volume.node("\(both.group(1))/from/moved/inner")
        if isTargetKnown { _ = try volume.node("\(both.group(1))/to/deep") }
        try volume.rename("moved", in: from, to: "renamed", in: deep, mode: .replacing)
        #expect(both.path(inner) == both.group(0) + "/to/deep/renamed/inner")
        #expect(both.path(seen) == both.group(1) + "/to/deep/renamed/inner")
        #expect(try volume.node("\(both.group(1))/to/deep/renamed/inner") == seen)
        #expect(throws: Fault.errno(ENOENT)) { try volume.node("\(both.group(1))/from/moved") }
        let moved = try volume.node("\(both.group(1))/to/deep/renamed")
        #expect(both.kernel.followed.withLock { $0.contains(moved) })
        // And the way back, by the other.
        let home = try volume.node(both.group(1))
        let above = try volume.node("\(both.group(1))/to/deep")
        try volume.rename("renamed", in: above, to: "back", in: home, mode: .keeping)
        #expect(both.path(inner) == both.group(0) + "/back/inner")
        #expect(both.path(seen) == both.group(1) + "/back/inner")
    }

    @Test("Directories that one home exchanges have changed places for the other too")
    func exchanges() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let first = try volume.node(both.group(0))
        let a = try volume.makeDirectory("a", in: first).node
        let b = try volume.makeDirectory("b", in: first).node
        let inA = try volume.makeDirectory("in-a", in: a).node
        let inB = try volume.makeDirectory("in-b", in: b).node
        let seen = try ["a/in-a", "b/in-b"].map { try volume.node("\(both.group(1))/\($0)") }
        try volume.rename("in-a", in: a, to: "in-b", in: b, mode: .exchanging)
        #expect([inA, inB].map(both.path) == ["/b/in-b", "/a/in-a"].map { both.group(0) + $0 })
        #expect(seen.map(both.path) == ["/b/in-b", "/a/in-a"].map { both.group(1) + $0 })
    }

    @Test("An entry moved to one home's Documents is gone for the other, except for processes in it")
    func movedOutOfSight() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let first = try volume.node(both.group(0))
        let directory = try volume.makeDirectory("directory", in: first).node
        _ = try volume.makeDirectory("inner", in: directory)
        let seen = try volume.node("\(both.group(1))/directory")
        let inner = try volume.node("\(both.group(1))/directory/inner")
        let documents = try volume.node(both.documents(0))
        try volume.rename("directory", in: first, to: "mine", in: documents, mode: .replacing)
        #expect(both.path(directory) == both.documents(0) + "/mine")
        #expect(both.path(seen) == nil && both.path(inner) == nil)
        #expect(throws: Fault.errno(ENOENT)) { try volume.node("\(both.group(1))/directory") }
        #expect(both.kernel.forgets("directory", in: try volume.node(both.group(1))))
        // A working directory is one still.
        try volume.make("by-the-other", in: inner, "x")
        #expect(try volume.text("\(both.documents(0))/mine/inner/by-the-other") == "x")
        #expect(try volume.names(in: seen) == ["inner"])
        // It is in sight again, and the same.
        try volume.rename("mine", in: documents, to: "again", in: first, mode: .replacing)
        #expect(both.path(inner) == both.group(1) + "/again/inner")
        #expect(try volume.node("\(both.group(1))/again/inner") == inner)
    }

    @Test("A directory that one home removes is removed for the other")
    func removedDirectory() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let first = try volume.node(both.group(0))
        _ = try volume.makeDirectory("d", in: first)
        let seen = try volume.node("\(both.group(1))/d")
        try volume.removeDirectory("d", in: first)
        #expect(both.path(seen) == nil)
        // A process in it gets the answers of a removed directory.
        _ = try volume.status(of: seen, handle: nil)
        #expect(throws: Fault.errno(ENOENT)) { try volume.make("x", in: seen) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("..x", in: seen) }
        #expect(both.kernel.forgets("d", in: try volume.node(both.group(1))))
        // Another of that name is another.
        _ = try volume.makeDirectory("d", in: first)
        #expect(try volume.node("\(both.group(1))/d") != seen)
    }

    @Test("A file that one home removes, replaces or renames keeps no name in the other", arguments: [0, 1])
    func files(remover: Int) throws {
        let both = try SharedHomes()
        let volume = both.volume
        let groups = try [0, 1].map { try volume.node(both.group($0)) }
        let (mine, others) = (groups[remover], groups[1 - remover])
        let removed = try volume.make("removed", in: groups[0], "x")
        let replaced = try volume.make("replaced", in: groups[0], "old")
        let renamed = try volume.make("renamed", in: groups[0], "new")
        for name in ["removed", "replaced", "renamed"] as [FileName] { _ = try volume.lookup(name, in: groups[1]) }
        let handle = try volume.open(removed, flags: O_RDONLY)
        try volume.removeFile("removed", in: mine)
        try volume.rename("renamed", in: mine, to: "replaced", in: mine, mode: .replacing)
        #expect(try volume.status(of: removed, handle: nil).linkCount == 0)
        #expect(try volume.status(of: replaced, handle: nil).linkCount == 0)
        #expect(try volume.text(handle) == "x")
        #expect(try volume.lookup("replaced", in: others).node == renamed)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("removed", in: others) }
        for name in ["removed", "replaced", "renamed"] as [FileName] { #expect(both.kernel.forgets(name, in: others)) }
        volume.close(handle)
    }

    @Test("The kernel relies on names, absence and directories' attributes only while one home shows a container")
    func caching() throws {
        let both = try SharedHomes(both: false)
        let volume = both.volume
        func entries(_ home: Int) throws -> [Entry] {
            let group = try volume.node(both.group(home))
            return [try volume.lookup("d", in: group), try volume.lookup("f", in: group)]
        }
        let group = try volume.node(both.group(0))
        _ = try volume.makeDirectory("d", in: group)
        _ = try volume.make("f", in: group)
        #expect(try entries(0).allSatisfy { $0.keepsName && $0.mayCacheStatus })
        #expect(!volume.isShared(group))

        let newly = volume.show(both.shown[1])
        #expect(!newly.isEmpty && volume.show(both.shown[1]).isEmpty)
        volume.forget(newly)
        let groups = try volume.node("\(both.shown[0].app)/Groups")
        #expect(both.kernel.forgets(TestHome.group.fileName, in: groups))
        volume.expire(newly)
        for name in ["d", "f"] as [FileName] {
            #expect(both.kernel.expired.withLock { $0.contains(.init(name: name, parent: group)) })
        }
        #expect(both.kernel.followed.withLock { $0.contains(group) })
        for home in [0, 1] {
            let found = try entries(home)
            #expect(found.allSatisfy { !$0.keepsName })
            #expect(found.map(\.mayCacheStatus) == [false, true])
            #expect(volume.isShared(try volume.node(both.group(home))))
            #expect(!volume.mayCacheStatus(of: found[0].node, found[0].status))
        }
        // The apps' own containers are not concerned.
        let documents = try volume.node(both.documents(0))
        _ = try volume.makeDirectory("own", in: documents)
        #expect(try volume.lookup("own", in: documents).keepsName && !volume.isShared(documents))
    }

    @Test("A container that one home has left is cached for the other again")
    func left() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let group = try volume.node(both.group(0))
        _ = try volume.makeDirectory("d", in: group)
        try volume.with(both.group(1) + "/d") { (seen) throws(Fault) in
            volume.hide(both.shown[1].app)
            // Somebody may be in it.
            #expect(volume.isShared(group) && volume.isShared(seen))
        }
        #expect(!volume.isShared(group))
        #expect(try volume.lookup("d", in: group).keepsName)
        #expect(!volume.show(both.shown[1]).isEmpty)
        #expect(volume.isShared(group))
    }

    @Test("The class that one home has a directory give is what it gives for the other")
    func classes() throws {
        let both = try SharedHomes()
        let volume = both.volume
        let mine = try volume.makeDirectory("d", in: volume.node(both.group(0))).node
        let seen = try volume.node(both.group(1) + "/d")
        #expect(try volume.protection(of: seen) == .standard)
        try volume.protect(mine, .complete)
        #expect(try volume.protection(of: seen) == .complete)
        #expect(try volume.protection(of: volume.make("f", in: seen)) == .complete)
        try volume.protect(seen, .none)
        #expect(try volume.protection(of: mine) == ProtectionClass.none)
    }

    @Test("An entry made in one home is found whole in the other, or not at all")
    func making() async throws {
        let both = try SharedHomes()
        let volume = both.volume
        let groups = try [0, 1].map { try volume.node(both.group($0)) }
        try volume.protect(groups[0], .complete)
        func work(_ home: Int) throws {
            for round in 0..<400 {
                let (name, directory) = (FileName("f\(round)")!, FileName("d\(round)")!)
                let (entry, handle) = try volume.create(name, in: groups[home], flags: O_RDWR)
                try volume.write(handle, Array("text".utf8), at: 0)
                volume.close(handle)
                #expect(String(decoding: try volume.bytes(of: entry.node), as: UTF8.self) == "text")
                _ = try? volume.makeDirectory(directory, in: groups[home])
                let made = try volume.lookup(directory, in: groups[home]).node
                #expect(try volume.protection(of: made) == .complete)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for home in [0, 1] { tasks.addTask { try work(home) } }
            try await tasks.waitForAll()
        }
    }

    @Test("After everything was forgotten only the root is known, whatever was moved")
    func forgotten() throws {
        let both = try SharedHomes()
        let volume = both.volume
        try volume.with(both.group(0)) { (first) throws(Fault) in
            for name in ["a", "b", "c"] as [FileName] {
                volume.forget(try volume.makeDirectory(name, in: first).node, count: 1)
            }
            volume.forget(try volume.make("f", in: first), count: 1)
            try volume.with(both.group(1) + "/f") { (_) throws(Fault) in }
            try volume.with(both.group(1) + "/a") { (_) throws(Fault) in
                try volume.with(both.group(0) + "/b") { (b) throws(Fault) in
                    // The other home does not know b yet: it is known for a's sake, and goes with it.
                    try volume.rename("a", in: first, to: "a", in: b, mode: .replacing)
                }
                try volume.rename("f", in: first, to: "g", in: first, mode: .replacing)
            }
            try volume.with(both.group(1) + "/c") { (_) throws(Fault) in
                try volume.with(both.documents(0)) { (documents) throws(Fault) in
                    try volume.rename("c", in: first, to: "c", in: documents, mode: .replacing)
                }
            }
            try volume.with(both.group(1) + "/b/a") { (_) throws(Fault) in
                try volume.with(both.group(0) + "/b") { (b) throws(Fault) in try volume.removeDirectory("a", in: b) }
            }
        }
        #expect(volume.knownNodes == 1)
    }
}
