// Purges: entries go as a whole, behind the kernel's back, and none goes that holds an open file.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite("Taking purged entries away")
struct PurgeTests {
    private let home: TestHome
    private var volume: Volume { home.volume }
    private let caches: NodeID
    private let trash: Trash

    init() throws {
        home = try TestHome()
        caches = try home.volume.node("Library/Caches")
        trash = try Trash(
            in: try Descriptor.open(path: home.directory, flags: O_RDONLY | O_DIRECTORY), space: home.context.space)
    }

    private var entries: [PurgeableEntry] {
        let data = try! Descriptor.open(path: "\(home.directory)/data", flags: O_RDONLY | O_DIRECTORY)
        return try! home.context.purgeableEntries(of: data, open: volume.openInodes)
            .filter { $0.directory == .caches }.sorted { $0.name.text < $1.name.text }
    }

    /// Takes all of some entries away, and tells what became of each.
    private func withdraw(_ entries: [PurgeableEntry]) throws -> [String] {
        let place = try Descriptor.open(
            path: "\(home.directory)/data/Library/Caches", flags: O_RDONLY | O_DIRECTORY)
        let withdrawals = volume.withdraw(entries, from: place, into: trash)
        var items: [Trash.Item] = []
        let told = zip(entries, withdrawals).map { entry, withdrawal in
            switch withdrawal {
            case .taken(let item):
                items.append(item)
                return "\(entry.name.text): taken"
            case .open: return "\(entry.name.text): open"
            case .changed: return "\(entry.name.text): changed"
            case .failed(let error): return "\(entry.name.text): \(error)"
            }
        }
        let links = SharedLinkTally()
        for item in items { _ = trash.remove(item, links, isShared: false) }
        return told
    }

    private var trashed: [String] { try! FileManager.default.contentsOfDirectory(atPath: "\(home.directory)/Trash") }

    @Test func `a taken entry is gone at once, and its host files are removed`() throws {
        let unit = try volume.makeDirectory("unit", in: caches).node
        let inner = try volume.makeDirectory("inner", in: unit).node
        let file = try volume.make("file", in: inner, "text")
        #expect(try withdraw(entries) == ["unit: taken"])
        #expect(try volume.names(in: caches).isEmpty)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("unit", in: caches) }
        // Nodes that the kernel still knows lead nowhere, and nothing can be made there.
        #expect(throws: Fault.errno(ESTALE)) { try volume.open(file, flags: O_RDONLY) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("file", in: inner) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.create("new", in: inner) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.makeDirectory("new", in: unit) }
        #expect(trashed.isEmpty)
    }

    @Test func `a file that was taken is not found by what the kernel knows of it, and can be made anew`() throws {
        let file = try volume.make("file", in: caches, "old")
        #expect(try withdraw(entries) == ["file: taken"])
        // The kernel looks the name up again then.
        #expect(throws: Fault.errno(ESTALE)) { try volume.open(file, flags: O_RDWR | O_TRUNC) }
        try volume.make("file", in: caches, "new")
        #expect(try volume.text("Library/Caches/file") == "new")
    }

    @Test func `an inode number that comes back is another node, at any depth`() throws {
        // tmpfs and ext4 give numbers out anew at once; here a link keeps the inode, and with it the number.
        let unit = try volume.makeDirectory("unit", in: caches).node
        let inner = try volume.makeDirectory("inner", in: unit).node
        let old = try volume.make("file", in: inner, "text")
        let single = try volume.make("single", in: caches, "single")
        try shell(
            """
            cd '\(home.directory)/data' && ln Library/Caches/unit/inner/file Documents/file \
            && ln Library/Caches/single Documents/single
            """)
        #expect(try withdraw(entries) == ["single: taken", "unit: taken"])
        let documents = try volume.node("Documents")
        for (name, node) in [("file", old), ("single", single)] {
            let found = try volume.lookup(FileName(name)!, in: documents).node
            #expect(found != node)
            #expect(throws: Fault.errno(ESTALE)) { try volume.open(node, flags: O_RDONLY) }
            #expect(try volume.bytes(of: found).count > 3)
        }
        // The kernel may forget its nodes in any order.
        for node in [unit, old, inner, single] { volume.forget(node, count: 1) }
        #expect(try volume.text("Documents/file") == "text")
    }

    @Test func `an entry in which a file is open stays, at any depth`() throws {
        let unit = try volume.makeDirectory("unit", in: caches).node
        let inner = try volume.makeDirectory("inner", in: unit).node
        let (_, handle) = try volume.create("file", in: inner)
        let single = try volume.open(try volume.make("single", in: caches, "text"), flags: O_RDONLY)
        #expect(entries.map(\.isOpen) == [true, true])
        #expect(try withdraw(entries) == ["single: open", "unit: open"])
        try volume.write(handle, Array("text".utf8), at: 0)
        #expect(try volume.text(handle) == "text")
        volume.close(handle)
        volume.close(single)
        #expect(entries.map(\.isOpen) == [false, false])
        #expect(try withdraw(entries) == ["single: taken", "unit: taken"])
    }

    @Test func `a file that is open by its name elsewhere keeps the entry`() throws {
        let unit = try volume.makeDirectory("unit", in: caches).node
        let file = try volume.make("file", in: try volume.node("Documents"), "text")
        _ = try volume.link(file, to: "second", in: unit)
        let handle = try volume.open(file, flags: O_RDONLY)
        #expect(try withdraw(entries) == ["unit: open"])
        volume.close(handle)
        #expect(try withdraw(entries) == ["unit: taken"])
        #expect(try volume.text("Documents/file") == "text")
    }

    @Test func `an entry that was opened after the plan was made stays`() throws {
        let file = try volume.make("file", in: caches, "text")
        let planned = entries
        let handle = try volume.open(file, flags: O_RDONLY)
        #expect(try withdraw(planned) == ["file: open"])
        volume.close(handle)
    }

    @Test func `another that has the name by now stays`() throws {
        try volume.make("file", in: caches, "old")
        try volume.make("new", in: caches, "new")
        let planned = entries.filter { $0.name == "file" }
        try volume.rename("new", in: caches, to: "file", in: caches, mode: .replacing)
        #expect(try withdraw(planned) == ["file: changed"])
        #expect(try volume.text("Library/Caches/file") == "new")
        try volume.removeFile("file", in: caches)
        #expect(try withdraw(planned) == ["file: changed"])
    }

    @Test func `links fifos and closed directories go as well`() throws {
        _ = try volume.makeSymbolicLink("link", in: caches, target: Array("/etc".utf8), caller: TestHome.caller)
        _ = try volume.makeNode("fifo", in: caches, mode: S_IFIFO | 0o600, caller: TestHome.caller)
        let closed = try volume.makeDirectory("closed", in: caches).node
        try volume.make("file", in: closed)
        try shell("chmod 0 '\(home.directory)/data/Library/Caches/closed'")
        #expect(try withdraw(entries) == ["closed: taken", "fifo: taken", "link: taken"])
        #expect(trashed.isEmpty)
    }

    @Test func `an entry's size counts each file once, and no file with a name elsewhere`() throws {
        let unit = try volume.makeDirectory("unit", in: caches).node
        let file = try volume.make("file", in: unit, String(repeating: "x", count: 100_000))
        let alone = try #require(entries.first).bytes
        #expect(alone >= 100_000)
        _ = try volume.link(file, to: "second", in: unit)
        #expect(try #require(entries.first).bytes == alone)
        _ = try volume.link(file, to: "kept", in: try volume.node("Documents"))
        #expect(try #require(entries.first).bytes < 100_000)
    }

    @Test func `space that comes free is counted`() throws {
        let before = home.context.space.used
        let unit = try volume.makeDirectory("unit", in: caches).node
        try volume.make("file", in: unit, String(repeating: "x", count: 100_000))
        try volume.make("file", in: caches, String(repeating: "x", count: 100_000))
        #expect(home.context.space.used > before + 200_000)
        #expect(try withdraw(entries).count == 2)
        #expect(home.context.space.used == before)
    }

    @Test func `a large entry goes whole, and all that comes free with it is counted`() throws {
        let before = home.context.space.used
        let unit = try volume.makeDirectory("unit", in: caches).node
        let inner = try volume.makeDirectory("inner", in: unit).node
        for number in 0..<300 {
            try volume.make(FileName("file-\(number)")!, in: unit, "text")
            try volume.make(FileName("file-\(number)")!, in: inner, "text")
        }
        // Two names of one file: it comes free with the last of them, once.
        let file = try volume.make("twice", in: unit, String(repeating: "x", count: 100_000))
        for number in 0..<100 { _ = try volume.link(file, to: FileName("again-\(number)")!, in: inner) }
        let bytes = try #require(entries.first).bytes
        let place = try Descriptor.open(path: "\(home.directory)/data/Library/Caches", flags: O_RDONLY | O_DIRECTORY)
        guard case .taken(let item) = try #require(volume.withdraw(entries, from: place, into: trash).first) else {
            Issue.record("it was not taken")
            return
        }
        #expect(trash.remove(item, SharedLinkTally(), isShared: true) == bytes)
        #expect(trashed.isEmpty)
        #expect(home.context.space.used == before)
    }
}
