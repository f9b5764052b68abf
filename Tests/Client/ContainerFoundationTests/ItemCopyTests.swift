// Tests of the properties that a copy keeps.

import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import ContainerFoundation

@Suite struct ItemCopyTests {
    let place: Workplace
    let files = FileManager.default

    init() throws {
        place = try Workplace()
    }

    @Test func `a tree is copied with modes, times, links and attributes`() throws {
        try files.createDirectory(at: place("tree/inner"), withIntermediateDirectories: true)
        let file = try place.file("tree/inner/file", "text", mode: 0o640)
        try files.createSymbolicLink(atPath: place("tree/link").path, withDestinationPath: "no where")
        let attribute = FileAttributeKey(rawValue: "NSFileExtendedAttributes")
        try files.setAttributes([attribute: ["user.colour": Data("red".utf8)]], ofItemAtPath: file.path)
        let then = Date(timeIntervalSince1970: 1_000_000_000)
        for url in [file, place("tree/inner")] {
            try files.setAttributes([.modificationDate: then], ofItemAtPath: url.path)
        }
        try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: place("tree/inner").path)

        try ItemCopy.copy(place("tree").path, to: place("copy").path)

        #expect(try text(of: place("copy/inner/file")) == "text")
        #expect(try mode(of: place("copy/inner/file")) == 0o640)
        #expect(try mode(of: place("copy/inner")) == 0o500)
        #expect(try attributes(of: place("copy/inner/file")) == ["user.colour"])
        #expect(try files.destinationOfSymbolicLink(atPath: place("copy/link").path) == "no where")
        for name in ["copy/inner", "copy/inner/file"] {
            #expect(try files.attributesOfItem(atPath: place(name).path)[.modificationDate] as? Date == then)
        }
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place("tree/inner").path)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place("copy/inner").path)
    }

    @Test func `nothing is copied over what is there, into itself, or from nowhere`() throws {
        let file = try place.file("file", "old")
        _ = try place.file("other", "new")
        try files.createDirectory(at: place("tree"), withIntermediateDirectories: false)
        #expect(code { try ItemCopy.copy(place("other").path, to: file.path) } == .fileWriteFileExists)
        #expect(code { try ItemCopy.copy(place("tree").path, to: place("tree/inner").path) } == .fileWriteUnknown)
        #expect(code { try ItemCopy.copy(place("none").path, to: place("new").path) } == .fileNoSuchFile)
        #expect(try text(of: file) == "old")
        #expect(try files.contentsOfDirectory(atPath: place("tree").path) == [])
    }

    /// Deeper than the longest path, and than the number of files that a process may have open.
    @Test func `a tree of any depth is copied`() throws {
        // Deeper than a path can say and than descriptors reach.
        let depth = rounds(1_000, full: 2_000)
        try files.createDirectory(at: place("tree"), withIntermediateDirectories: false)
        try grow("tree", depth: depth)
        defer { for name in ["tree", "copy"] as [FileName] { _ = try? place.removeTree(name) } }
        #expect(try deepest(of: "tree") == depth)

        let former = OpenFileLimit.current
        try OpenFileLimit.set(256)
        defer { try? OpenFileLimit.set(former) }
        try ItemCopy.copy(place("tree").path, to: place("copy").path)

        #expect(try deepest(of: "copy") == depth)
    }

    /// Makes nested directories, each with a file and an empty directory.
    private func grow(_ name: FileName, depth: Int) throws {
        var directory = try Descriptor.openDirectory(path: place(name.text).path)
        for _ in 0..<depth {
            for name in ["aside", "inner"] as [FileName] { try directory.makeDirectory(name, mode: 0o700) }
            _ = try directory.open("file", flags: O_CREAT | O_WRONLY, mode: 0o600)
            directory = try directory.openDirectory("inner")
        }
    }

    /// The number of nested directories that are complete.
    private func deepest(of name: FileName) throws -> Int {
        var directory = try Descriptor.openDirectory(path: place(name.text).path)
        var depth = 0
        while try directory.exists("inner") {
            guard try directory.exists("aside"), try directory.exists("file") else { break }
            directory = try directory.openDirectory("inner")
            depth += 1
        }
        return depth
    }

    @Test func `names in a directory are any bytes, and so are the ends of links`() throws {
        let bytes: [UInt8] = [0x63, 0x61, 0x66, 0xE9]
        let name = try #require(FileName(bytes))
        try files.createDirectory(at: place("tree"), withIntermediateDirectories: false)
        let file = try place.file("tree/file")
        let tree = try Descriptor.openDirectory(path: place("tree").path)
        try tree.makeDirectory(name, mode: 0o700)
        try tree.rename("file", to: name, in: try tree.openDirectory(name))
        try tree.makeSymbolicLink("link", target: bytes)
        #expect(!files.fileExists(atPath: file.path))

        try ItemCopy.copy(place("tree").path, to: place("copy").path)

        let copy = try Descriptor.openDirectory(path: place("copy").path)
        #expect(try copy.openDirectory(name).open(name, flags: 0).readToEnd() == Array("text".utf8))
        #expect(try copy.symbolicLinkTarget("link") == bytes)
    }
}
