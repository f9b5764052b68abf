// The rules of each zone, as calls on a volume meet them.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("The rules of the sandbox, by the calls that meet them")
struct RuleTests {
    @Test("Nothing is made, moved or removed at the top level")
    func topLevel() throws {
        let volume = try TestHome().volume
        let caller = TestHome.caller
        #expect(throws: Fault.refused(.topLevel)) { try volume.create("new", in: .root) }
        #expect(throws: Fault.refused(.topLevel)) { try volume.makeDirectory("new", in: .root) }
        #expect(throws: Fault.refused(.topLevel)) {
            try volume.makeSymbolicLink("new", in: .root, target: [65], caller: caller)
        }
        #expect(throws: Fault.refused(.topLevel)) {
            try volume.makeNode("new", in: .root, mode: S_IFIFO | 0o600, caller: caller)
        }
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents)
        #expect(throws: Fault.refused(.topLevel)) { try volume.link(file, to: "new", in: .root) }
        #expect(throws: Fault.refused(.topLevel)) {
            try volume.rename("file", in: documents, to: "new", in: .root, mode: .replacing)
        }
        for standard in ["Documents", "Library", "tmp"] as [FileName] {
            #expect(throws: Fault.refused(.standardDirectory)) { try volume.removeDirectory(standard, in: .root) }
            #expect(throws: Fault.refused(.standardDirectory)) {
                try volume.rename(standard, in: .root, to: "moved", in: documents, mode: .replacing)
            }
        }
        #expect(throws: Fault.refused(.topLevel)) { try volume.removeDirectory("Groups", in: .root) }
        #expect(
            try volume.names(in: .root).sorted() == [
                ".com.apple.mobile_container_manager.metadata.plist", "Documents", "Groups", "Library", "Notes.app",
                "iCloud", "tmp",
            ])
    }

    @Test("The standard directories of Library stay, and what the app makes beside them is its own")
    func library() throws {
        let volume = try TestHome().volume
        let library = try volume.node("Library")
        for standard in ["Caches", "Preferences"] as [FileName] {
            #expect(throws: Fault.refused(.standardDirectory)) { try volume.removeDirectory(standard, in: library) }
            #expect(throws: Fault.refused(.standardDirectory)) {
                try volume.rename(standard, in: library, to: "other", in: library, mode: .replacing)
            }
        }
        let support = try volume.makeDirectory("Application Support", in: library).node
        _ = try volume.makeDirectory("Caches", in: support)
        try volume.removeDirectory("Caches", in: support)
        try volume.removeDirectory("Application Support", in: library)
    }

    @Test("Nothing changes the bundle, which can be read")
    func bundle() throws {
        let volume = try TestHome().volume
        let bundle = try volume.node("Notes.app")
        let file = try volume.node("Notes.app/Info.plist")
        let documents = try volume.node("Documents")
        #expect(try volume.text("Notes.app/Info.plist") == "sealed")
        for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC] {
            #expect(throws: Fault.refused(.sealedBundle)) { try volume.open(file, flags: flags) }
        }
        var mode = FileStatusChange()
        mode.mode = 0o600
        var size = FileStatusChange()
        size.size = 0
        var times = FileStatusChange()
        times.modificationTime = .now
        for change in [mode, size, times] {
            #expect(throws: Fault.refused(.sealedBundle)) { try volume.changeStatus(change, of: file, handle: nil) }
        }
        #expect(throws: Fault.refused(.sealedBundle)) {
            try volume.setAttribute(Array("user.a".utf8), to: [1], flags: 0, of: file)
        }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.setInodeFlags(0x40, of: file) }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.create("new", in: bundle) }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.removeFile("Info.plist", in: bundle) }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.removeDirectory("en.lproj", in: bundle) }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.link(file, to: "copy", in: documents) }
        #expect(throws: Fault.refused(.sealedBundle)) {
            try volume.rename("Info.plist", in: bundle, to: "copy", in: documents, mode: .replacing)
        }
        let own = try volume.make("own", in: documents)
        #expect(throws: Fault.refused(.sealedBundle)) {
            try volume.rename("own", in: documents, to: "Info.plist", in: bundle, mode: .exchanging)
        }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.link(own, to: "own", in: bundle) }
        // The app itself meets the sandbox, not a mode bit.
        #expect(try volume.status(of: file, handle: nil).mode & S_IWUSR != 0)
    }

    @Test("A delivered file can be read, removed and moved out, and nothing else")
    func inbox() throws {
        let home = try TestHome()
        let volume = home.volume
        try home.deliver("a.txt", "delivered")
        try home.deliver("folder/b.txt", "inside")
        let documents = try volume.node("Documents")
        let inbox = try volume.node("Documents/Inbox")
        let file = try volume.node("Documents/Inbox/a.txt")
        let folder = try volume.node("Documents/Inbox/folder")
        #expect(try volume.text("Documents/Inbox/a.txt") == "delivered")
        #expect(throws: Fault.refused(.inbox)) { try volume.create("new", in: inbox) }
        #expect(throws: Fault.refused(.inbox)) { try volume.makeDirectory("new", in: folder) }
        #expect(throws: Fault.refused(.inbox)) { try volume.open(file, flags: O_RDWR) }
        #expect(throws: Fault.refused(.inbox)) { try volume.link(file, to: "escape", in: documents) }
        #expect(throws: Fault.refused(.inbox)) { try volume.removeDirectory("Inbox", in: documents) }
        #expect(throws: Fault.refused(.inbox)) {
            try volume.rename("a.txt", in: inbox, to: "b.txt", in: inbox, mode: .replacing)
        }
        let own = try volume.make("own", in: documents, "own")
        #expect(throws: Fault.refused(.inbox)) {
            try volume.rename("own", in: documents, to: "a.txt", in: inbox, mode: .exchanging)
        }
        #expect(throws: Fault.refused(.inbox)) { try volume.link(own, to: "own", in: inbox) }
        var change = FileStatusChange()
        change.mode = 0o600
        #expect(throws: Fault.refused(.inbox)) { try volume.changeStatus(change, of: file, handle: nil) }
        #expect(throws: Fault.refused(.inbox)) {
            try volume.setAttribute(Array("user.a".utf8), to: [1], flags: 0, of: file)
        }

        // Moved out, it is the app's own, by the node that the kernel knows already; and so is what is below.
        try volume.rename("a.txt", in: inbox, to: "a.txt", in: documents, mode: .replacing)
        let handle = try volume.open(file, flags: O_RDWR)
        try volume.write(handle, Array("changed".utf8), at: 0)
        volume.close(handle)
        #expect(try volume.text("Documents/a.txt") == "changeded")
        let below = try volume.node("Documents/Inbox/folder/b.txt")
        try volume.rename("folder", in: inbox, to: "folder", in: documents, mode: .keeping)
        volume.close(try volume.open(below, flags: O_RDWR))
        try volume.make("new", in: folder)

        // It can be removed, with what is in it.
        try home.deliver("other/c.txt", "more")
        let other = try volume.node("Documents/Inbox/other")
        try volume.removeFile("c.txt", in: other)
        try volume.removeDirectory("other", in: inbox)
        #expect(try volume.names(in: inbox) == [])
    }

    @Test("Nothing in Documents gets the Inbox's name; elsewhere it is a name like any other")
    func inboxName() throws {
        let volume = try TestHome().volume
        let caller = TestHome.caller
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents)
        let refused = Fault.refused(.inboxName)
        #expect(throws: refused) { try volume.create("Inbox", in: documents) }
        #expect(throws: refused) { try volume.makeDirectory("Inbox", in: documents) }
        #expect(throws: refused) { try volume.makeSymbolicLink("Inbox", in: documents, target: [65], caller: caller) }
        #expect(throws: refused) { try volume.link(file, to: "Inbox", in: documents) }
        #expect(throws: refused) {
            try volume.rename("file", in: documents, to: "Inbox", in: documents, mode: .replacing)
        }
        let folder = try volume.makeDirectory("folder", in: documents).node
        _ = try volume.makeDirectory("Inbox", in: folder)
        _ = try volume.makeDirectory("Inbox", in: try volume.node("tmp"))
    }

    @Test("The metadata can be read by anybody and changed by nobody")
    func metadata() throws {
        let volume = try TestHome().volume
        let name: FileName = ".com.apple.mobile_container_manager.metadata.plist"
        let node = try volume.node(name.text)
        #expect(try volume.text(name.text) == "plist")
        #expect(throws: Fault.refused(.metadata)) { try volume.open(node, flags: O_WRONLY) }
        #expect(throws: Fault.refused(.metadata)) { try volume.removeFile(name, in: .root) }
        #expect(throws: Fault.refused(.metadata)) {
            try volume.rename(name, in: .root, to: "own", in: try volume.node("tmp"), mode: .replacing)
        }
        #expect(throws: Fault.refused(.metadata)) { try volume.link(node, to: "own", in: try volume.node("tmp")) }
    }

    @Test("A group's and an iCloud container's directory stay, and the app is free in them")
    func sharedContainers() throws {
        let volume = try TestHome().volume
        for (directory, container) in [("Groups", TestHome.group), ("iCloud", TestHome.iCloud)] {
            let above = try volume.node(directory)
            #expect(try volume.names(in: above) == [container.text])
            let root = try volume.node("\(directory)/\(container)")
            #expect(throws: Fault.refused(.topLevel)) { try volume.makeDirectory("new", in: above) }
            #expect(throws: Fault.refused(.standardDirectory)) {
                try volume.removeDirectory(container.fileName, in: above)
            }
            try volume.make("shared", in: root, "text")
            // From one container to another it moves like within one.
            try volume.rename("shared", in: root, to: "moved", in: try volume.node("tmp"), mode: .replacing)
            #expect(try volume.text("tmp/moved") == "text")
            try volume.removeFile("moved", in: try volume.node("tmp"))
        }
    }

    @Test("Fifos and sockets can be made, devices cannot")
    func specialFiles() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        for kind in [S_IFCHR, S_IFBLK] {
            #expect(throws: Fault.refused(.deviceNode)) {
                try volume.makeNode("device", in: documents, mode: kind | 0o600, caller: TestHome.caller)
            }
        }
        let fifo = try volume.makeNode("fifo", in: documents, mode: S_IFIFO | 0o640, caller: TestHome.caller)
        #expect(fifo.status.kind == .fifo && fifo.status.permissions == 0o640)
        let socket = try volume.makeNode("socket", in: documents, mode: S_IFSOCK | 0o600, caller: TestHome.caller)
        #expect(socket.status.kind == .socket)
    }

    @Test("Symbolic links are kept as they were written and lead nowhere")
    func symbolicLinks() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        for (name, target) in [("up", "../../../etc"), ("absolute", "/etc/passwd"), ("loop", "loop")] {
            let entry = try volume.makeSymbolicLink(
                FileName(name)!, in: documents, target: Array(target.utf8), caller: TestHome.caller)
            #expect(try volume.symbolicLinkTarget(of: entry.node) == Array(target.utf8))
            #expect(throws: Fault.errno(ENOTDIR)) { try volume.lookup("passwd", in: entry.node) }
            #expect(throws: Fault.errno(ENXIO)) { try volume.open(entry.node, flags: O_RDONLY) }
        }
    }

    @Test("A file that root makes for another user belongs to that user", .enabled(if: geteuid() == 0))
    func owner() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let caller = Caller(user: 12_345, group: 23_456, thread: 1)
        let (file, handle) = try volume.create("file", in: documents, mode: 0o640, flags: O_RDWR, caller: caller)
        volume.close(handle)
        let directory = try volume.makeDirectory("directory", in: documents, mode: 0o2750, caller: caller)
        let link = try volume.makeSymbolicLink("link", in: documents, target: [65], caller: caller)
        for entry in [file, directory, link] {
            let status = try volume.status(of: entry.node, handle: nil)
            #expect(status.owner == 12_345 && status.group == 23_456)
        }
        #expect(try volume.status(of: directory.node, handle: nil).permissions == 0o2750)
        // A directory with the set-group-ID bit passes its group on.
        let other = Caller(user: 12_345, group: 34_567, thread: 1)
        let below = try volume.makeDirectory("below", in: directory.node, mode: 0o700, caller: other)
        #expect(below.status.group == 23_456 && below.status.mode & S_ISGID != 0)
    }
}
