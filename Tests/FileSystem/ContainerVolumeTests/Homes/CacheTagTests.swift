// The CACHEDIR.TAG that a mount shows on request: where it is, and what it hides.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("The tag that a mount shows in directories of caches")
struct CacheTagTests {
    private static let name = CacheDirectoryTag.name
    private static let places = ["Library/Caches", "tmp"]

    /// The volume of a home, with the tag or without.
    private func show(_ isShown: Bool, _ test: TestHome) {
        let home = test.home
        test.volume.show(
            Home(
                app: home.app, bundleName: home.bundleName, bundle: home.bundle, data: home.data, groups: home.groups,
                iCloud: home.iCloud, owner: home.owner, group: home.group, isPrivate: true, showsCacheTags: isShown))
    }

    private func tagged() throws -> TestHome {
        let test = try TestHome()
        show(true, test)
        return test
    }

    @Test("It is listed once, found and read in Library/Caches and tmp, and nowhere else")
    func isShown() throws {
        let test = try tagged()
        let volume = test.volume
        for place in Self.places {
            let directory = try volume.node(place)
            for number in 0..<5 { try volume.make(FileName("f\(number)")!, in: directory) }
            for piece in [1, 2, 100] {
                let names = try volume.names(in: directory, piece: piece)
                #expect(names.sorted() == ["CACHEDIR.TAG"] + (0..<5).map { "f\($0)" })
            }
            #expect(try volume.bytes(of: try volume.node("\(place)/CACHEDIR.TAG")) == CacheDirectoryTag.content)
            let status = try volume.status(of: try volume.node("\(place)/CACHEDIR.TAG"), handle: nil)
            #expect(status.kind == .file && status.size == CacheDirectoryTag.content.count && status.linkCount == 1)
            #expect(status.owner == geteuid())
            #expect(!FileManager.default.fileExists(atPath: "\(test.directory)/data/\(place)/CACHEDIR.TAG"))
        }
        for place in ["", "Documents", "Library", "Library/Preferences", "Groups/\(TestHome.group)"] {
            #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(Self.name, in: try volume.node(place)) }
        }
        let folder = try volume.makeDirectory("folder", in: try volume.node("tmp")).node
        try volume.make(Self.name, in: folder, "the app's own")
        #expect(try volume.text("tmp/folder/CACHEDIR.TAG") == "the app's own")
    }

    @Test("Nothing changes it, and nothing else gets its name")
    func isItsOwn() throws {
        let volume = try tagged().volume
        let refused = Fault.refused(.cacheTag)
        let directory = try volume.node("tmp")
        let tag = try volume.node("tmp/CACHEDIR.TAG")
        let own = try volume.make("own", in: directory)
        #expect(throws: refused) { try volume.create(Self.name, in: directory) }
        #expect(throws: refused) { try volume.makeDirectory(Self.name, in: directory) }
        #expect(throws: refused) {
            try volume.makeSymbolicLink(Self.name, in: directory, target: [65], caller: TestHome.caller)
        }
        #expect(throws: refused) {
            try volume.makeNode(Self.name, in: directory, mode: S_IFIFO | 0o600, caller: TestHome.caller)
        }
        #expect(throws: refused) { try volume.link(own, to: Self.name, in: directory) }
        #expect(throws: refused) { try volume.link(tag, to: "other", in: directory) }
        #expect(throws: refused) { try volume.removeFile(Self.name, in: directory) }
        for mode in [Descriptor.RenameMode.replacing, .keeping, .exchanging] {
            #expect(throws: refused) {
                try volume.rename("own", in: directory, to: Self.name, in: directory, mode: mode)
            }
            #expect(throws: refused) {
                try volume.rename(Self.name, in: directory, to: "own", in: directory, mode: mode)
            }
        }
        #expect(throws: refused) { try volume.open(tag, flags: O_WRONLY) }
        #expect(throws: refused) { try volume.open(tag, flags: O_RDONLY | O_TRUNC) }
        for change in changes { #expect(throws: refused) { try volume.changeStatus(change, of: tag, handle: nil) } }
        for name in ["user.a", BackupMark.attributeName, "user.appcontainer.protection"] {
            #expect(throws: refused) { try volume.setAttribute(Array(name.utf8), to: [1], flags: 0, of: tag) }
            #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(Array(name.utf8), of: tag) }
        }
        #expect(throws: refused) { try volume.setInodeFlags(0x80, of: tag) }
        #expect(try volume.attributeNames(of: tag).isEmpty)
        #expect(
            try volume.attribute(Array(BackupInclusion.attributeName.utf8), of: tag) == Array("excluded-by:tmp".utf8))
        #expect(try volume.text("tmp/own") == "")
    }

    private var changes: [FileStatusChange] {
        var (mode, size, time) = (FileStatusChange(), FileStatusChange(), FileStatusChange())
        mode.mode = 0o600
        size.size = 0
        time.modificationTime = .now
        return [mode, size, time]
    }

    @Test("An app's own file of that name is hidden, and visible again without the tag")
    func hides() throws {
        let test = try TestHome()
        let volume = test.volume
        for place in Self.places { try volume.make(Self.name, in: try volume.node(place), "the app's own") }
        show(true, test)
        for place in Self.places {
            #expect(try volume.bytes(of: try volume.node("\(place)/CACHEDIR.TAG")) == CacheDirectoryTag.content)
            #expect(try volume.names(in: try volume.node(place)) == ["CACHEDIR.TAG"])
        }
        show(false, test)
        for place in Self.places {
            #expect(try volume.text("\(place)/CACHEDIR.TAG") == "the app's own")
            #expect(try volume.names(in: try volume.node(place)) == ["CACHEDIR.TAG"])
        }
    }

    @Test("It is read in pieces and sought through as any file, and an open one outlives the mount that shows it")
    func reading() throws {
        let test = try tagged()
        let volume = test.volume
        let handle = try volume.open(try volume.node("tmp/CACHEDIR.TAG"), flags: O_RDONLY)
        defer { volume.close(handle) }
        let size = CacheDirectoryTag.content.count
        #expect(try volume.bytes(handle, from: 11, count: 32) == Array("8a477f597d28d172789f06886806bc55".utf8))
        #expect(try volume.bytes(handle, from: size - 3, count: 100).count == 3)
        #expect(try volume.bytes(handle, from: size + 10).isEmpty)
        #expect(try volume.seek(handle, from: 3, toHole: false) == 3)
        #expect(try volume.seek(handle, from: 3, toHole: true) == Int64(size))
        #expect(try volume.status(of: handle.nodeID, handle: handle).size == size)
        show(false, test)
        #expect(try volume.bytes(handle) == CacheDirectoryTag.content)
    }
}
