// Renames of files within a zone, which go on beside each other, and of all else, for which names wait.

import ContainerVolume
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("Renames")
struct RenameTests {
    private let home: TestHome
    private var volume: Volume { home.volume }
    private let documents: NodeID
    private let one: NodeID
    private let two: NodeID

    init() throws {
        home = try TestHome()
        documents = try home.volume.node("Documents")
        one = try home.volume.makeDirectory("one", in: documents).node
        two = try home.volume.makeDirectory("two", in: documents).node
    }

    private func links(_ node: NodeID) throws -> UInt64 { try UInt64(volume.status(of: node, handle: nil).linkCount) }

    @Test("Two names of one file stay as they are, but for a rename that must not replace")
    func namesOfOneFile() throws {
        let file = try volume.make("a", in: one, "text")
        _ = try volume.link(file, to: "b", in: two)
        for mode in [Descriptor.RenameMode.replacing, .exchanging] {
            try volume.rename("a", in: one, to: "b", in: two, mode: mode)
            try volume.rename("b", in: two, to: "a", in: one, mode: mode)
            try volume.rename("a", in: one, to: "a", in: one, mode: mode)
        }
        for (name, parent) in [("a", one), ("b", two)] as [(FileName, NodeID)] {
            #expect(throws: Fault.errno(EEXIST)) {
                try volume.rename(name, in: parent, to: "a", in: one, mode: .keeping)
            }
            #expect(try volume.lookup(name, in: parent).node == file)
        }
        #expect(try links(file) == 2)
        try volume.removeFile("a", in: one)
        #expect(try volume.lookup("b", in: two).node == file)
        #expect(try volume.text("Documents/two/b") == "text")
    }

    @Test("An exchange of two files moves each name to the other, and no further name of either")
    func exchange() throws {
        let a = try volume.make("a", in: one, "a")
        let b = try volume.make("b", in: two, "b")
        _ = try volume.link(a, to: "a2", in: two)
        _ = try volume.link(b, to: "b2", in: one)
        try volume.rename("a", in: one, to: "b", in: two, mode: .exchanging)
        #expect(try volume.lookup("a", in: one).node == b)
        #expect(try volume.lookup("b", in: two).node == a)
        #expect(try volume.lookup("a2", in: two).node == a)
        #expect(try volume.lookup("b2", in: one).node == b)
        try volume.removeFile("a2", in: two)
        try volume.removeFile("b2", in: one)
        #expect(try volume.text("Documents/one/a") == "b")
        #expect(try volume.text("Documents/two/b") == "a")
        #expect(try (links(a), links(b)) == (1, 1))
    }

    @Test("A replaced file keeps its other names, and its last one goes with its descriptor")
    func replaced() throws {
        let old = try volume.make("old", in: one, "old")
        _ = try volume.link(old, to: "kept", in: two)
        try volume.make("new", in: two, "new")
        try volume.rename("new", in: two, to: "old", in: one, mode: .replacing)
        #expect(try links(old) == 1)
        #expect(try volume.text("Documents/two/kept") == "old")
        let handle = try volume.open(old, flags: O_RDWR)
        try volume.rename("old", in: one, to: "kept", in: two, mode: .replacing)
        #expect(try links(old) == 0)
        #expect(try volume.text(handle) == "old")
        volume.close(handle)
        #expect(try volume.names(in: one) == [])
        #expect(try volume.text("Documents/two/kept") == "new")
    }

    @Test("The rules are asked first: a container's directory is refused, whatever it is renamed to or over")
    func containers() throws {
        let groups = try volume.node("Groups")
        let group = TestHome.group.fileName
        let root = try volume.node("Groups/\(group.text)")
        try volume.make("file", in: root)
        for mode in [Descriptor.RenameMode.replacing, .keeping, .exchanging] {
            for (target, name) in [(groups, "other"), (groups, group), (root, "file"), (documents, "own")]
                as [(NodeID, FileName)]
            {
                let refusal = #expect(throws: Fault.self) {
                    try volume.rename(group, in: groups, to: name, in: target, mode: mode)
                }
                guard case .refused? = refusal else {
                    Issue.record("\(name.text), \(mode): \(String(describing: refusal))")
                    continue
                }
            }
            #expect(throws: Fault.self) {
                try volume.rename("missing", in: groups, to: "own", in: documents, mode: mode)
            }
        }
    }

    @Test("A file does not replace a directory, nor a directory a file, and an exchange swaps both")
    func filesAndDirectories() throws {
        let file = try volume.make("file", in: one, "text")
        #expect(throws: Fault.errno(EISDIR)) {
            try volume.rename("file", in: one, to: "two", in: documents, mode: .replacing)
        }
        #expect(throws: Fault.errno(EEXIST)) {
            try volume.rename("file", in: one, to: "two", in: documents, mode: .keeping)
        }
        #expect(throws: Fault.errno(ENOTDIR)) {
            try volume.rename("two", in: documents, to: "file", in: one, mode: .replacing)
        }
        #expect(throws: Fault.errno(EISDIR)) { try volume.removeFile("two", in: documents) }
        #expect(throws: Fault.errno(ENOTDIR)) { try volume.removeDirectory("file", in: one) }
        try volume.make("inner", in: two, "inner")
        try volume.rename("file", in: one, to: "two", in: documents, mode: .exchanging)
        #expect(try volume.lookup("two", in: documents).node == file)
        #expect(try volume.text("Documents/one/file/inner") == "inner")
        #expect(try volume.lookup("file", in: one).node == two)
    }

    @Test("A file of the Inbox that is moved out is the app's own, and so it is with a name beside one in the Inbox")
    func acrossZones() throws {
        try home.deliver("a", "delivered")
        let inbox = try volume.node("Documents/Inbox")
        // As a process of the host may link it.
        try shell("ln '\(home.directory)/data/Documents/Inbox/a' '\(home.directory)/data/Documents/one/linked'")
        let file = try volume.lookup("a", in: inbox).node
        #expect(throws: Fault.refused(.inbox)) { _ = try volume.open(file, flags: O_RDWR) }
        try volume.rename("linked", in: one, to: "moved", in: two, mode: .replacing)
        volume.close(try volume.open(file, flags: O_RDWR))
        try volume.rename("a", in: inbox, to: "a", in: one, mode: .replacing)
        volume.close(try volume.open(file, flags: O_RDWR))
        #expect(try links(file) == 2)
    }
}
