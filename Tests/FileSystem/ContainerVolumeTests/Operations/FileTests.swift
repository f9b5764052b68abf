// Files: opened, read, written, copied and removed.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("Files and directories of a volume")
struct FileTests {
    @Test("Two names are one file: one node, one content, one status")
    func hardLinks() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let directory = try volume.makeDirectory("directory", in: documents).node
        let file = try volume.make("file", in: documents, "text")
        let link = try volume.link(file, to: "link", in: directory)
        #expect(link.node == file && link.status.linkCount == 2)
        #expect(try volume.lookup("link", in: directory).node == file)
        let handle = try volume.open(try volume.node("Documents/directory/link"), flags: O_RDWR)
        try volume.write(handle, Array("TEXT, longer".utf8), at: 0)
        #expect(try volume.text("Documents/file") == "TEXT, longer")
        // The name by which it was first known goes; the other still reaches it.
        try volume.removeFile("file", in: documents)
        #expect(try volume.status(of: file, handle: nil).linkCount == 1)
        #expect(try volume.text("Documents/directory/link") == "TEXT, longer")
        try volume.removeFile("link", in: directory)
        #expect(try volume.status(of: file, handle: nil).linkCount == 0)
        #expect(try volume.text(handle) == "TEXT, longer")
        volume.close(handle)
        #expect(throws: Fault.errno(EEXIST)) {
            let node = try volume.make("a", in: documents)
            try volume.make("b", in: documents)
            _ = try volume.link(node, to: "b", in: documents)
        }
        #expect(throws: Fault.errno(EPERM)) { try volume.link(directory, to: "other", in: documents) }
    }

    @Test("Renaming one name of a file to another of the same file does nothing")
    func renameToSameFile() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let file = try volume.make("a", in: documents, "text")
        _ = try volume.link(file, to: "b", in: documents)
        try volume.rename("a", in: documents, to: "b", in: documents, mode: .replacing)
        #expect(try volume.names(in: documents).sorted() == ["a", "b"])
        #expect(try volume.status(of: file, handle: nil).linkCount == 2)
    }

    @Test("A file that another is renamed over stays open for its descriptors")
    func renameOverOpenFile() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let old = try volume.make("file", in: documents, "old")
        let new = try volume.make("new", in: documents, "new")
        let handle = try volume.open(old, flags: O_RDWR)
        let newHandle = try volume.open(new, flags: O_RDWR)
        try volume.rename("new", in: documents, to: "file", in: documents, mode: .replacing)
        #expect(try volume.text(handle) == "old")
        try volume.write(handle, Array("older".utf8), at: 0)
        #expect(try volume.text(handle) == "older")
        #expect(try volume.text("Documents/file") == "new")
        try volume.write(newHandle, Array("newer".utf8), at: 0)
        #expect(try volume.text("Documents/file") == "newer")
        #expect(try volume.lookup("file", in: documents).node == new)
        #expect(try volume.status(of: old, handle: nil).linkCount == 0)
        volume.close(handle)
        volume.close(newHandle)
        #expect(throws: Fault.errno(EEXIST)) {
            try volume.make("third", in: documents)
            try volume.rename("third", in: documents, to: "file", in: documents, mode: .keeping)
        }
    }

    @Test("An exchange swaps the places of files and directories, open ones too")
    func exchange() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let temporary = try volume.node("tmp")
        let file = try volume.make("file", in: documents, "text")
        let directory = try volume.makeDirectory("directory", in: temporary).node
        let inner = try volume.make("inner", in: directory, "inner")
        let handle = try volume.open(file, flags: O_RDWR)
        try volume.rename("file", in: documents, to: "directory", in: temporary, mode: .exchanging)
        #expect(try volume.lookup("directory", in: temporary).node == file)
        #expect(try volume.lookup("file", in: documents).node == directory)
        #expect(try volume.node("Documents/file/inner") == inner)
        try volume.write(handle, Array("TEXT".utf8), at: 0)
        volume.close(handle)
        #expect(try volume.text("tmp/directory") == "TEXT")
        #expect(try volume.text("Documents/file/inner") == "inner")
        #expect(throws: Fault.errno(ENOENT)) {
            try volume.rename("file", in: documents, to: "missing", in: temporary, mode: .exchanging)
        }
    }

    @Test("A directory moves with everything that is open and known in it")
    func moveDirectory() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let library = try volume.node("Library")
        let a = try volume.makeDirectory("a", in: documents).node
        let b = try volume.makeDirectory("b", in: a).node
        let (entry, handle) = try volume.create("file", in: b)
        try volume.write(handle, Array("one".utf8), at: 0)
        try volume.rename("a", in: documents, to: "moved", in: library, mode: .replacing)
        try volume.write(handle, Array("two".utf8), at: 3)
        #expect(try volume.text(handle) == "onetwo")
        volume.close(handle)
        #expect(try volume.text("Library/moved/b/file") == "onetwo")
        #expect(try volume.status(of: entry.node, handle: nil).size == 6)
        try volume.make("second", in: b, "more")
        #expect(try volume.names(in: try volume.node("Library/moved/b")).sorted() == ["file", "second"])
        #expect(throws: Fault.errno(EINVAL)) {
            try volume.rename("moved", in: library, to: "inside", in: b, mode: .replacing)
        }
        let empty = try volume.makeDirectory("empty", in: documents).node
        #expect(throws: Fault.errno(ENOTEMPTY)) {
            try volume.rename("empty", in: documents, to: "moved", in: library, mode: .replacing)
        }
        try volume.removeFile("file", in: b)
        try volume.removeFile("second", in: b)
        try volume.rename("empty", in: documents, to: "b", in: a, mode: .replacing)
        #expect(try volume.lookup("b", in: a).node == empty)
        #expect(throws: Fault.errno(ENOENT)) { try volume.make("ghost", in: b) }
    }

    @Test("A removed file goes on for those who have it open, attributes included")
    func unlinkedWhileOpen() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let (entry, handle) = try volume.create("file", in: documents)
        let node = entry.node
        try volume.write(handle, Array("text".utf8), at: 0)
        try volume.removeFile("file", in: documents)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("file", in: documents) }
        #expect(try volume.text(handle) == "text")
        try volume.write(handle, Array("more".utf8), at: 4)
        #expect(try volume.status(of: node, handle: handle).size == 8)

        var change = FileStatusChange()
        change.mode = 0o600
        change.size = 6
        change.modificationTime = .at(timespec(tv_sec: 1_000_000, tv_nsec: 5))
        for handle in [handle, nil] {
            let status = try volume.changeStatus(change, of: node, handle: handle)
            #expect(status.permissions == 0o600 && status.size == 6 && status.linkCount == 0)
            #expect(status.modificationTime.tv_sec == 1_000_000 && status.modificationTime.tv_nsec == 5)
        }
        #expect(try volume.text(handle) == "textmo")
        #expect(throws: Fault.errno(ENOENT)) { try volume.link(node, to: "back", in: documents) }
        // The kernel may open it once more by its number, as through /proc/self/fd.
        let again = try volume.open(node, flags: O_RDONLY)
        #expect(try volume.text(again) == "textmo")
        volume.close(again)
        // A file of the same name is another.
        #expect(try volume.make("file", in: documents, "other") != node)
        #expect(try volume.text(handle) == "textmo")
        volume.close(handle)
        volume.forget(node, count: 1)
        #expect(throws: Fault.errno(ESTALE)) { try volume.open(node, flags: O_RDONLY) }
    }

    @Test("A handle has the right that it was opened with, and only that")
    func rights() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents, "text")
        let reader = try volume.open(file, flags: O_RDONLY)
        #expect(throws: Fault.errno(EBADF)) { try volume.write(reader, [1], at: 0) }
        // A file whose mode denies its owner works on for who has it open.
        let writer = try volume.open(file, flags: O_WRONLY)
        var change = FileStatusChange()
        change.mode = 0
        _ = try volume.changeStatus(change, of: file, handle: nil)
        try volume.write(writer, Array("TEXT".utf8), at: 0)
        #expect(try volume.text(reader) == "TEXT")
        volume.close(reader)
        volume.close(writer)
        #expect(throws: Fault.errno(EISDIR)) { try volume.open(documents, flags: O_RDONLY) }
        #expect(throws: Fault.errno(ENOTDIR)) { try volume.lookup("x", in: file) }
        #expect(throws: Fault.errno(EEXIST)) { try volume.create("file", in: documents) }
    }

    @Test("Opening with O_TRUNC and creating what is there")
    func truncateAtOpen() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents, "text")
        let (entry, handle) = try volume.create("file", in: documents, flags: O_RDWR)
        #expect(entry.node == file)
        #expect(try volume.text(handle) == "text")
        let second = try volume.open(file, flags: O_WRONLY | O_TRUNC)
        #expect(try volume.text(handle) == "")
        volume.close(handle)
        volume.close(second)
        #expect(try volume.status(of: file, handle: nil).size == 0)
    }

    @Test("Holes, copies within the filesystem, and lengths")
    func ranges() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let (_, source) = try volume.create("source", in: documents)
        let (_, target) = try volume.create("target", in: documents)
        defer {
            volume.close(source)
            volume.close(target)
        }
        var generator = SeededGenerator(seed: 3)
        let bytes = generator.bytes(300_000)
        try volume.write(source, bytes, at: 0)
        #expect(try volume.copy(from: source, at: 1000, to: target, at: 5, count: 1 << 20) == 299_000)
        #expect(try volume.bytes(target) == [0, 0, 0, 0, 0] + bytes[1000...])
        #expect(try volume.copy(from: source, at: 300_000, to: target, at: 0, count: 10) == 0)
    }

    @Test("Written content is there after a restart")
    func restart() throws {
        let home = try TestHome()
        let documents = try home.volume.node("Documents")
        var generator = SeededGenerator(seed: 4)
        let bytes = generator.bytes(100_000)
        let (_, handle) = try home.volume.create("file", in: documents)
        try home.volume.write(handle, bytes, at: 0)
        try home.volume.synchronize(handle, dataOnly: false)
        home.volume.close(handle)
        try home.restart()
        let node = try home.volume.node("Documents/file")
        #expect(try home.volume.status(of: node, handle: nil).size == 100_000)
        #expect(try home.volume.bytes(of: node) == bytes)
    }
}
