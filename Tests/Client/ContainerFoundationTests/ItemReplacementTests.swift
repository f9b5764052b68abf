// Tests that replacing an item loses neither of the two.

import Platform
import Testing

@testable import ContainerFoundation

@Suite struct ItemReplacementTests {
    let place: Workplace
    let files = FileManager.default

    init() throws {
        place = try Workplace()
    }

    private var names: [String] {
        get throws { try files.contentsOfDirectory(atPath: place.path).sorted() }
    }

    @Test func `the new content has the old mode and name`() throws {
        let old = try place.file("document", "old", mode: 0o600)
        let new = try place.file("new", "new", mode: 0o644)
        #expect(try files.replaceItemAt(old, withItemAt: new) == old)
        #expect(try text(of: old) == "new")
        #expect(try mode(of: old) == 0o600)
        #expect(try names == ["document"])
    }

    @Test func `its own metadata stays when that is asked for`() throws {
        let old = try place.file("document", "old", mode: 0o600)
        let new = try place.file("new", "new", mode: 0o644)
        _ = try files.replaceItemAt(old, withItemAt: new, options: .usingNewMetadataOnly)
        #expect(try mode(of: old) == 0o644)
    }

    @Test func `a new item is moved if there is no original`() throws {
        let new = try place.file("new", "new")
        _ = try files.replaceItemAt(place("document"), withItemAt: new)
        #expect(try text(of: place("document")) == "new")
        #expect(try names == ["document"])
    }

    @Test func `without a new item the old one stays`() throws {
        let old = try place.file("document", "old")
        #expect(code { _ = try files.replaceItemAt(old, withItemAt: place("none")) } == .fileReadNoSuchFile)
        #expect(try text(of: old) == "old")
    }

    @Test func `a directory takes a directory's place`() throws {
        for name in ["old", "new"] {
            try files.createDirectory(at: place(name), withIntermediateDirectories: false)
            _ = try place.file("\(name)/file", name)
        }
        _ = try files.replaceItemAt(place("old"), withItemAt: place("new"))
        #expect(try text(of: place("old/file")) == "new")
        #expect(try names == ["old"])
    }

    @Test func `a backup is kept in the place of whatever had its name`() throws {
        let old = try place.file("document", "old")
        let new = try place.file("new", "new")
        _ = try place.file("backup", "older")
        _ = try files.replaceItemAt(old, withItemAt: new, backupItemName: "backup", options: .withoutDeletingBackupItem)
        #expect(try text(of: old) == "new")
        #expect(try text(of: place("backup")) == "old")
        #expect(try names == ["backup", "document"])
    }

    @Test func `a backup that is not to be kept is not there afterwards`() throws {
        let old = try place.file("document", "old")
        let new = try place.file("new", "new")
        _ = try files.replaceItemAt(old, withItemAt: new, backupItemName: "backup")
        #expect(try names == ["document"])
    }

    @Test func `an item is not replaced by itself, nor backed up under its own name`() throws {
        let old = try place.file("document", "old")
        let new = try place.file("new", "new")
        #expect(throws: CocoaError.self) { try files.replaceItemAt(old, withItemAt: old) }
        #expect(throws: CocoaError.self) {
            try files.replaceItemAt(
                old, withItemAt: new, backupItemName: "document", options: .withoutDeletingBackupItem)
        }
        #expect(try text(of: old) == "old")
        #expect(try text(of: new) == "new")
    }

    @Test func `an item of another filesystem is copied beside the old one first`() throws {
        let other = URL(filePath: "/dev/shm/appcontainer-\(UUID().uuidString)")
        try Data("new".utf8).write(to: other)
        defer { try? files.removeItem(at: other) }
        let old = try place.file("document", "old", mode: 0o600)
        _ = try files.replaceItemAt(old, withItemAt: other)
        #expect(try text(of: old) == "new")
        #expect(try mode(of: old) == 0o600)
        #expect(try names == ["document"])
        #expect(!files.fileExists(atPath: other.path))
    }

    @Test func `a copy of another filesystem has its own mode where that is asked for, or where nothing was`() throws {
        for isThere in [true, false] {
            let other = URL(filePath: "/dev/shm/appcontainer-\(UUID().uuidString)")
            try Data("new".utf8).write(to: other)
            defer { try? files.removeItem(at: other) }
            try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other.path)
            let old = place("document \(isThere)")
            if isThere { _ = try place.file("document true", "old", mode: 0o600) }
            _ = try files.replaceItemAt(old, withItemAt: other, options: isThere ? .usingNewMetadataOnly : [])
            #expect(try text(of: old) == "new")
            #expect(try mode(of: old) == 0o644)
        }
        #expect(try names == ["document false", "document true"])
    }

    @Test func `metadata that a new item took over can be undone`() throws {
        let old = try place.file("document", "old", mode: 0o440)
        let new = try place.file("new", "new", mode: 0o644)
        let (target, source) = (try FilePlace(old.path), try FilePlace(new.path))
        try source.attributes.set(Array("user.colour".utf8), to: Array("red".utf8))
        for name in ["user.colour", "user.shape"] {
            try target.attributes.set(Array(name.utf8), to: Array("old".utf8))
        }
        let own = try source.attributes.names()
        let carried = try CarriedMetadata(of: target, to: source, keeping: own, isMounted: true)
        #expect(try mode(of: new) == 0o440)
        #expect(try Set(attributes(of: new)) == ["user.colour", "user.shape"])
        carried.undo()
        #expect(try mode(of: new) == 0o644)
        #expect(try attributes(of: new) == ["user.colour"])
        #expect(try source.attributes.value(of: Array("user.colour".utf8)) == Array("red".utf8))
    }

    @Test func `a replacement that fails gives nothing to the new item`() throws {
        try files.createDirectory(at: place("new"), withIntermediateDirectories: false)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place("new").path)
        // /proc: another filesystem, where nothing can be made, so neither an exchange nor a copy works.
        let fixed = URL(filePath: "/proc/\(getpid())/task")
        #expect(try mode(of: fixed) == 0o555)
        #expect(throws: CocoaError.self) { try files.replaceItemAt(fixed, withItemAt: place("new")) }
        #expect(try mode(of: place("new")) == 0o700)
        #expect(try names == ["new"])
    }

    @Test func `neither item is lost where one lies in the other`() throws {
        try files.createDirectory(at: place("outer/inner"), withIntermediateDirectories: true)
        _ = try place.file("outer/inner/file", "inner")
        _ = try place.file("outer/file", "outer")
        for (old, new) in [("outer", "outer/inner"), ("outer/inner", "outer"), ("outer/inner/file", "outer")] {
            #expect(code { _ = try files.replaceItemAt(place(old), withItemAt: place(new)) } == .fileWriteUnknown)
            #expect(try names == ["outer"])
            #expect(try files.contentsOfDirectory(atPath: place("outer").path).sorted() == ["file", "inner"])
            #expect(try text(of: place("outer/inner/file")) == "inner")
        }
    }

    /// Without RENAME_EXCHANGE: if a step fails, the steps before it are undone.
    @Test func `two items are exchanged in turn, or stay`() throws {
        _ = try place.file("document", "old")
        _ = try place.file("new", "new")
        try FilePlace(place("new").path).swapInTurn(with: FilePlace(place("document").path))
        #expect(try text(of: place("document")) == "new")
        #expect(try text(of: place("new")) == "old")
        try files.createDirectory(at: place("outer/inner"), withIntermediateDirectories: true)
        for (first, second) in [("outer/inner", "outer"), ("outer", "outer/inner"), ("none", "document")] {
            #expect(throws: (any Error).self) {
                try FilePlace(place(first).path).swapInTurn(with: FilePlace(place(second).path))
            }
            #expect(try names == ["document", "new", "outer"])
            #expect(try files.contentsOfDirectory(atPath: place("outer").path) == ["inner"])
        }
    }

    @Test func `an earlier backup stays until everything is in its place`() throws {
        let old = try place.file("document", "old")
        let new = try place.file("new", "new")
        try files.createDirectory(at: place("backup"), withIntermediateDirectories: false)
        _ = try place.file("backup/older", "older")
        _ = try files.replaceItemAt(old, withItemAt: new, backupItemName: "backup", options: .withoutDeletingBackupItem)
        #expect(try text(of: place("backup")) == "old")
        #expect(try names == ["backup", "document"])
        for name in ["none", "document"] {
            #expect(throws: CocoaError.self) {
                try files.replaceItemAt(
                    old, withItemAt: place(name), backupItemName: "backup", options: .withoutDeletingBackupItem)
            }
            #expect(try text(of: place("backup")) == "old")
        }
        for name in ["", "..", "a/b", "document"] {
            #expect(throws: CocoaError.self) {
                try files.replaceItemAt(
                    old, withItemAt: place("backup"), backupItemName: name, options: .withoutDeletingBackupItem)
            }
        }
        #expect(try text(of: place("backup")) == "old")
    }

    @Test func `a new item gives its name to the backup`() throws {
        let old = try place.file("document", "old")
        let new = try place.file("new", "new")
        _ = try files.replaceItemAt(old, withItemAt: new, backupItemName: "new", options: .withoutDeletingBackupItem)
        #expect(try text(of: old) == "new")
        #expect(try text(of: new) == "old")
    }

    @Test func `a backup may be the original by another name already`() throws {
        let old = try place.file("document", "old")
        try files.linkItem(at: old, to: place("backup"))
        let new = try place.file("new", "new")
        _ = try files.replaceItemAt(old, withItemAt: new, backupItemName: "backup", options: .withoutDeletingBackupItem)
        #expect(try text(of: old) == "new")
        #expect(try text(of: place("backup")) == "old")
        #expect(try names == ["backup", "document"])
    }
}
