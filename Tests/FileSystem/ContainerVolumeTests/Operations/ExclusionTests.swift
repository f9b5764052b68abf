// The mark that keeps a file out of backups, in every form.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("Exclusion from backups, in a volume")
struct ExclusionTests {
    private static let exclude = "com.apple.metadata:com_apple_backup_excludeItem"
    private static let names = [
        exclude, "user." + exclude, "com.apple.MobileBackup", "user.com.apple.MobileBackup", robots,
    ]
    private static let robots = "user.xdg.robots.backup"
    private static let listed = Set(["user." + exclude, robots])
    private static let noDump: UInt32 = 0x40
    private let create: Int32 = 1
    private let replace: Int32 = 2

    private func value(_ name: String) -> [UInt8] {
        switch name {
        case Self.robots: Array("false".utf8)
        case "com.apple.MobileBackup", "user.com.apple.MobileBackup": [1]
        default: BackupMark.canonicalValue
        }
    }

    /// Whether a node is excluded, which every form has to agree on.
    private func isExcluded(_ node: NodeID, _ volume: Volume) throws -> Bool {
        let flag = try volume.inodeFlags(of: node) & Self.noDump != 0
        for name in Self.names {
            let read = Result { () throws(Fault) in try volume.attribute(Array(name.utf8), of: node) }
            switch read {
            case .success(let bytes): #expect(flag && bytes == value(name), "\(name)")
            case .failure(let fault): #expect(!flag && fault == .errno(ENODATA), "\(name): \(fault)")
            }
        }
        return flag
    }

    private func listed(_ node: NodeID, _ volume: Volume) throws -> Set<String> {
        Set(try volume.attributeNames(of: node).map { String(decoding: $0, as: UTF8.self) })
    }

    private func set(_ name: String, _ value: [UInt8], flags: Int32 = 0, _ node: NodeID, _ volume: Volume) throws(Fault)
    {
        try volume.setAttribute(Array(name.utf8), to: value, flags: flags, of: node)
    }

    private func inclusion(_ path: String, _ volume: Volume) throws -> String {
        let node = try volume.node(path)
        return String(
            decoding: try volume.attribute(Array(BackupInclusion.attributeName.utf8), of: node), as: UTF8.self)
    }

    /// The mark on the host.
    private func stored(_ path: String, _ home: TestHome) throws -> [UInt8]? {
        let file = try Descriptor.open(path: "\(home.directory)/data/\(path)", flags: O_RDONLY)
        let holder = AttributeHolder(file: file)
        return try? holder.value(of: Array(BackupMark.attributeName.utf8))
    }

    @Test("Each form sets the one fact, whatever its value, and each removes it", arguments: names)
    func forms(_ name: String) throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        for node in [try volume.make("file", in: documents), try volume.makeDirectory("folder", in: documents).node] {
            #expect(try !isExcluded(node, volume))
            try set(name, name == Self.robots ? value(name) : Array("any".utf8), node, volume)
            #expect(try isExcluded(node, volume))
            #expect(try listed(node, volume) == Self.listed)
            for other in Self.names {
                try volume.removeAttribute(Array(other.utf8), of: node)
                #expect(try !isExcluded(node, volume))
                #expect(try listed(node, volume).isEmpty)
                // As rsync does, which removes one name after the other.
                try volume.removeAttribute(Array(name.utf8), of: node)
                try set(name, value(name), node, volume)
            }
        }
        #expect(try stored("Documents/file", home) == BackupMark.canonicalValue)
        #expect(try stored("Documents/folder", home) == BackupMark.canonicalValue)
    }

    @Test("0 and true take the mark away, and succeed where there is none; other words of robots are EINVAL")
    func clearing() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        for (name, values) in [
            ("com.apple.MobileBackup", [[0], Array("0".utf8)]), (Self.robots, [Array("true".utf8)]),
        ] {
            for value in values {
                try set(Self.exclude, [], file, volume)
                #expect(try isExcluded(file, volume))
                try set(name, value, file, volume)
                #expect(try !isExcluded(file, volume))
                try set(name, value, file, volume)
            }
        }
        #expect(throws: Fault.errno(EINVAL)) { try set(Self.robots, Array("maybe".utf8), file, volume) }
        #expect(try !isExcluded(file, volume))
        try set(Self.exclude, [], file, volume)
        #expect(throws: Fault.errno(EINVAL)) { try set(Self.robots, [], file, volume) }
        #expect(try isExcluded(file, volume))
    }

    @Test("A copy that creates both listed names does not fail; replacing what is not there does")
    func createAndReplace() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        for name in Self.listed {
            #expect(throws: Fault.errno(ENODATA)) { try set(name, value(name), flags: replace, file, volume) }
        }
        for name in Self.listed { try set(name, value(name), flags: create, file, volume) }
        for name in Self.listed { try set(name, value(name), flags: replace, file, volume) }
        #expect(try isExcluded(file, volume))
    }

    @Test("NODUMP is the mark, and is not kept on the host")
    func noDump() throws {
        let home = try TestHome()
        let volume = home.volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        try volume.setInodeFlags(Self.noDump, of: file)
        #expect(try isExcluded(file, volume))
        let backing = try Descriptor.open(path: "\(home.directory)/data/Documents/file", flags: O_RDONLY)
        #expect((try? backing.inodeFlags()).map { $0 & Self.noDump } ?? 0 == 0)
        try volume.setInodeFlags(0, of: file)
        #expect(try !isExcluded(file, volume))
        #expect(throws: Fault.errno(EOPNOTSUPP)) { try volume.setInodeFlags(Self.noDump | 0x10, of: file) }
        #expect(try !isExcluded(file, volume))
        // The other flag stays what it is.
        try volume.setInodeFlags(0x80, of: file)
        try set(Self.exclude, [1], file, volume)
        #expect(try volume.inodeFlags(of: file) == 0xC0)
        try volume.setInodeFlags(0x80, of: file)
        #expect(try !isExcluded(file, volume))
        #expect(try volume.inodeFlags(of: file) == 0x80)
    }

    @Test(
        "Library/Caches, tmp, the bundle and iCloud are excluded, list nothing, and stay so",
        arguments: ["Library/Caches", "tmp", "Notes.app", "iCloud"])
    func places(_ path: String) throws {
        let volume = try TestHome().volume
        let node = try volume.node(path)
        for name in Self.names {
            try set(name, value(name), node, volume)
            #expect(throws: Fault.refused(.neverInBackup)) {
                try volume.removeAttribute(Array(name.utf8), of: node)
            }
        }
        try volume.setInodeFlags(Self.noDump, of: node)
        #expect(throws: Fault.refused(.neverInBackup)) { try volume.setInodeFlags(0, of: node) }
        #expect(throws: Fault.refused(.neverInBackup)) { try set(Self.robots, Array("true".utf8), node, volume) }
        #expect(try isExcluded(node, volume))
        #expect(try listed(node, volume).isEmpty)
        #expect(try inclusion(path, volume) == "excluded")
    }

    @Test("Entries in them have no mark of their own unless it is set")
    func inside() throws {
        let volume = try TestHome().volume
        for path in ["Library/Caches", "tmp", "iCloud/\(TestHome.iCloud)"] {
            let directory = try volume.node(path)
            let file = try volume.make("file", in: directory)
            #expect(try !isExcluded(file, volume))
            let place = path.hasPrefix("iCloud") ? "iCloud" : path
            #expect(try inclusion("\(path)/file", volume) == "excluded-by:\(place)")
            try set(Self.exclude, [1], file, volume)
            #expect(try listed(file, volume) == Self.listed)
            #expect(try inclusion("\(path)/file", volume) == "excluded")
            try volume.removeAttribute(Array(Self.exclude.utf8), of: file)
        }
        let plist = try volume.node("Notes.app/Info.plist")
        #expect(try !isExcluded(plist, volume))
        #expect(try inclusion("Notes.app/Info.plist", volume) == "excluded-by:Notes.app")
        #expect(throws: Fault.refused(.sealedBundle)) { try set(Self.exclude, [1], plist, volume) }
        #expect(throws: Fault.refused(.sealedBundle)) { try volume.setInodeFlags(Self.noDump, of: plist) }
        let metadata = try volume.node(".com.apple.mobile_container_manager.metadata.plist")
        #expect(try inclusion(".com.apple.mobile_container_manager.metadata.plist", volume) == "excluded")
        #expect(try isExcluded(metadata, volume))
        // It is the system's: not even what it is already can be set.
        #expect(throws: Fault.refused(.metadata)) { try set(Self.exclude, [1], metadata, volume) }
        #expect(throws: Fault.refused(.metadata)) {
            try volume.removeAttribute(Array(Self.exclude.utf8), of: metadata)
        }
        #expect(throws: Fault.refused(.metadata)) { try volume.setInodeFlags(0, of: metadata) }
        #expect(try listed(metadata, volume) == [])
    }

    @Test("The computed attribute tells the directory that keeps a path out, and is neither set nor listed")
    func computed() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let outer = try volume.makeDirectory("outer", in: documents).node
        let inner = try volume.makeDirectory("inner", in: outer).node
        let file = try volume.make("file", in: inner)
        #expect(try inclusion("Documents/outer/inner/file", volume) == "included")
        #expect(try inclusion("", volume) == "included")
        #expect(try inclusion("Groups/\(TestHome.group)", volume) == "included")
        try set(Self.exclude, [1], inner, volume)
        #expect(try inclusion("Documents/outer/inner/file", volume) == "excluded-by:Documents/outer/inner")
        try set(Self.exclude, [1], outer, volume)
        #expect(try inclusion("Documents/outer/inner/file", volume) == "excluded-by:Documents/outer")
        #expect(try inclusion("Documents/outer", volume) == "excluded")
        #expect(try !isExcluded(file, volume))
        #expect(try listed(file, volume).isEmpty)
        let name = Array(BackupInclusion.attributeName.utf8)
        #expect(throws: Fault.refused(.computedAttribute)) {
            try volume.setAttribute(name, to: Array("included".utf8), flags: 0, of: file)
        }
        // Moved out, it is in again.
        try volume.rename("file", in: inner, to: "file", in: documents, mode: .replacing)
        #expect(try inclusion("Documents/file", volume) == "included")
    }

    @Test("A removed file that is open has its own mark")
    func removed() throws {
        let volume = try TestHome().volume
        let directory = try volume.node("Library/Caches")
        let (entry, handle) = try volume.create("file", in: directory)
        defer { volume.close(handle) }
        try volume.removeFile("file", in: directory)
        let name = Array(BackupInclusion.attributeName.utf8)
        #expect(try volume.attribute(name, of: entry.node) == Array("included".utf8))
        try set(Self.exclude, [1], entry.node, volume)
        #expect(try volume.attribute(name, of: entry.node) == Array("excluded".utf8))
    }

    @Test("The Inbox inherits from Documents; nothing in it is marked, but what is marked may be set again")
    func inbox() throws {
        let home = try TestHome()
        let volume = home.volume
        try home.deliver("plain.txt", "text")
        try home.deliver("marked.txt", "text")
        let stored = try Descriptor.open(path: "\(home.directory)/data/Documents/Inbox/marked.txt", flags: O_RDONLY)
        try AttributeHolder(file: stored).set(Array(BackupMark.attributeName.utf8), to: Array("delivered".utf8))
        let plain = try volume.node("Documents/Inbox/plain.txt")
        let marked = try volume.node("Documents/Inbox/marked.txt")
        for name in Self.names {
            #expect(throws: Fault.refused(.inbox)) { try set(name, value(name), plain, volume) }
            try set(name, value(name), marked, volume)
            #expect(throws: Fault.refused(.inbox)) { try volume.removeAttribute(Array(name.utf8), of: marked) }
        }
        #expect(throws: Fault.refused(.inbox)) { try volume.setInodeFlags(Self.noDump, of: plain) }
        try volume.setInodeFlags(0, of: plain)
        try volume.setInodeFlags(Self.noDump, of: marked)
        #expect(throws: Fault.refused(.inbox)) { try volume.setInodeFlags(0, of: marked) }
        #expect(try isExcluded(marked, volume))
        #expect(try inclusion("Documents/Inbox", volume) == "included")
        try set(Self.exclude, [1], try volume.node("Documents"), volume)
        #expect(try inclusion("Documents/Inbox/plain.txt", volume) == "excluded-by:Documents")
    }

    @Test("Symbolic links and fifos bear none")
    func holders() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let link = try volume.makeSymbolicLink("link", in: documents, target: [65], caller: TestHome.caller).node
        let fifo = try volume.makeNode("fifo", in: documents, mode: S_IFIFO | 0o600, caller: TestHome.caller).node
        for node in [link, fifo] {
            for name in Self.names {
                #expect(throws: Fault.refused(.attributeHolder)) { try set(name, value(name), node, volume) }
                #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(Array(name.utf8), of: node) }
            }
        }
        try set(Self.exclude, [1], documents, volume)
        #expect(try inclusion("Documents/link", volume) == "excluded-by:Documents")
        #expect(throws: Fault.refused(.topLevel)) { try set(Self.exclude, [1], .root, volume) }
        #expect(throws: Fault.refused(.topLevel)) { try set(Self.exclude, [1], try volume.node("Groups"), volume) }
    }

    @Test("Writing in place and renaming keep the mark; what replaces the file has none; an exchange swaps it")
    func life() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents, "old")
        try set(Self.exclude, [1], file, volume)
        let handle = try volume.open(file, flags: O_RDWR | O_TRUNC)
        try volume.write(handle, Array("new".utf8), at: 0)
        volume.close(handle)
        #expect(try inclusion("Documents/file", volume) == "excluded")
        try volume.rename("file", in: documents, to: "moved", in: documents, mode: .replacing)
        #expect(try inclusion("Documents/moved", volume) == "excluded")
        try volume.make("saved", in: documents, "saved")
        try volume.rename("saved", in: documents, to: "moved", in: documents, mode: .exchanging)
        #expect(try inclusion("Documents/saved", volume) == "excluded")
        try volume.rename("moved", in: documents, to: "saved", in: documents, mode: .replacing)
        #expect(try inclusion("Documents/saved", volume) == "included")
    }
}
