// Listings that are made for people: whole, in order, part by part, and of one mind with an inspection.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import ContainerVolume

@Suite("The content of a home, listed for people")
struct ContentsTests {
    private let home: TestHome
    private var volume: Volume { home.volume }

    init() throws {
        home = try TestHome()
        for directory in ["Documents/b", "Documents/b/deep", "Library/Caches/x", "group/Library/Caches", "iCloud/d"] {
            let path = directory.hasPrefix("group") || directory.hasPrefix("iCloud") ? directory : "data/\(directory)"
            try FileManager.default.createDirectory(
                atPath: "\(home.directory)/\(path)", withIntermediateDirectories: true)
        }
        for file in ["Documents/a", "Documents/b/deep/f", "Documents/é", "Library/Caches/x/cached", "tmp/t"] {
            try home.store("text of \(file)", at: file)
        }
        try volume.with("Documents") { (node) throws(Fault) in
            _ = try volume.makeSymbolicLink("link", in: node, target: Array("a".utf8), caller: TestHome.caller)
        }
    }

    private func list(
        _ directory: String = "", recursive: Bool = true, after: String? = nil, limit: Int = 1000
    ) throws(Fault) -> Listing {
        try volume.contents(
            ListingOrder(
                directory: path(directory), isRecursive: recursive, after: after.map { path($0) }, limit: limit),
            ofHome: [])
    }

    private func path(_ text: String) -> [FileName] { [FileName](joined: Array(text.utf8))! }

    private func names(_ listing: Listing) -> [String] { listing.entries.map(\.path.text) }

    @Test func `a directory is listed by the bytes of its names`() throws {
        let listing = try list("Documents", recursive: false)
        #expect(names(listing) == ["Documents/a", "Documents/b", "Documents/link", "Documents/é"])
        #expect(listing.isComplete)
        #expect(listing.entries[2].target == Array("a".utf8))
    }

    @Test func `everything is listed once, each directory before its content`() throws {
        let listed = names(try list())
        #expect(Set(listed).count == listed.count)
        for path in ["Documents/b/deep/f", "Library/Caches/x/cached", "Notes.app/Info.plist", "tmp/t"] {
            let place = try #require(listed.firstIndex(of: path), "\(path)")
            let above = HostPath.names(of: path).dropLast().joined(separator: "/")
            #expect(try #require(listed.firstIndex(of: above)) < place)
        }
        #expect(listed.contains("Groups/\(TestHome.group)/Library/Caches"))
        #expect(listed.contains("iCloud/\(TestHome.iCloud)/d"))
    }

    @Test(arguments: 1...7) func `parts of any size are the whole`(limit: Int) throws {
        let whole = names(try list())
        var parts: [String] = []
        while true {
            let part = try list(after: parts.last, limit: limit)
            parts += names(part)
            if part.isComplete { break }
            #expect(part.entries.count == limit)
        }
        #expect(parts == whole)
    }

    @Test func `a part goes on where its beginning is gone`() throws {
        let behind = names(try list("Documents", after: "Documents/a"))
        #expect(names(try list("Documents", after: "Documents/aa")) == behind)
        // A directory that has become a file, and one that is gone with all that was in it.
        for gone in ["Documents/a/x/y", "Documents/b/deeper/z"] {
            #expect(names(try list("Documents", after: gone)).allSatisfy { $0 > gone }, "\(gone)")
        }
    }

    @Test func `a place that the listing cannot have is an error`() throws {
        for place in ["Library/x", "Documents", "Documen"] {
            #expect(throws: Fault.errno(EINVAL), "\(place)") { try list("Documents", after: place) }
        }
        #expect(throws: Fault.errno(EINVAL)) { try list("Documents", recursive: false, after: "Documents/b/deep") }
    }

    @Test func `wide directories within each other are listed part by part`() throws {
        var parent = try volume.node("Documents/b/deep")
        for _ in 0..<8 {
            for number in 0..<12 { try volume.make(FileName("f\(number)")!, in: parent) }
            parent = try volume.makeDirectory("e", in: parent).node
        }
        let whole = names(try list())
        for limit in 1...4 {
            var (parts, after) = ([String](), [FileName]?.none)
            while true {
                let part = try volume.contents(
                    ListingOrder(directory: [], isRecursive: true, after: after, limit: limit), ofHome: [])
                parts += names(part)
                after = part.end
                if part.isComplete { break }
            }
            #expect(parts == whole)
        }
    }

    @Test func `a part of long paths has fewer entries`() throws {
        var parent = try volume.node("Documents/b/deep")
        let name = FileName(String(repeating: "d", count: 255))!
        for _ in 0..<260 { parent = try volume.makeDirectory(name, in: parent).node }
        let first = try list("Documents/b/deep")
        #expect(!first.isComplete && first.entries.count < 260)
        let second = try volume.contents(
            ListingOrder(directory: path("Documents/b/deep"), isRecursive: true, after: first.end, limit: 1000),
            ofHome: [])
        #expect(second.entries.first?.path.count == first.entries.last.map { $0.path.count + 1 })
    }

    @Test func `a damaged file is listed as damaged`() throws {
        try shell("head -c 4096 /dev/zero > '\(home.directory)/data/Documents/a'")
        let listed = try list("Documents").entries
        #expect(listed.first { $0.path.text == "Documents/a" }?.fault == .corrupt)
        #expect(listed.filter { $0.fault != nil }.count == 1)
    }

    @Test func `a listing that nobody waits for ends, and keeps no node`() throws {
        let before = volume.knownNodes
        for most in 0..<12 {
            let looks = Mutex(0)
            #expect(throws: Fault.errno(ECANCELED)) {
                try volume.contents(
                    ListingOrder(directory: [], isRecursive: true, limit: 1000) {
                        looks.withLock { looks in
                            looks += 1
                            return looks > most
                        }
                    }, ofHome: [])
            }
        }
        #expect(volume.knownNodes == before)
    }

    @Test func `the first names of many are gathered in little memory`() {
        var names = FirstNames(10)
        for number in 0..<100_000 {
            names.add(ListedName(name: FileName("n\(number * 7919 % 100_000)")!, type: 8))
            if names.held > 20 { return #expect(Bool(false), "it holds \(names.held)") }
        }
        let all = (0..<100_000).map { "n\($0)" }.sorted()
        #expect(names.sorted().map(\.name.text) == Array(all.prefix(10)))
        #expect(names.isCut)
    }

    @Test func `a directory of more entries than are read at once is listed once`() throws {
        try shell("cd '\(home.directory)/data/tmp' && seq -f 'd%06g' 9000 | xargs mkdir")
        let all = names(try list("tmp", recursive: false, limit: 10_000))
        #expect(all.count == 9001 && all == all.sorted())
        let part = try list("tmp", recursive: false, after: "tmp/d008000", limit: 10)
        #expect(names(part) == (8001...8010).map { "tmp/d00\($0)" })
        #expect(!part.isComplete)
    }

    @Test func `each entry has what an inspection says of it`() throws {
        try volume.with("Documents/b") { (node) throws(Fault) in
            try volume.setAttribute(Array(BackupMark.attributeName.utf8), to: [1], flags: 0, of: node)
            let name = Array(ProtectionClass.attributeName.utf8)
            try volume.setAttribute(name, to: Array("NSFileProtectionComplete".utf8), flags: 0, of: node)
        }
        for entry in try list().entries {
            let inspected = try volume.inspect(entry.path)
            #expect(entry.inclusion == inspected.inclusion, "\(entry.path.text)")
            #expect(entry.isExcluded == inspected.isExcluded, "\(entry.path.text)")
            #expect(entry.protection == inspected.protection, "\(entry.path.text)")
            #expect(entry.shown.size == inspected.shown.size, "\(entry.path.text)")
            #expect(entry.shown.permissions == inspected.shown.permissions, "\(entry.path.text)")
        }
    }

    @Test func `what lies in Library/Caches and tmp may be purged, and nothing else`() throws {
        for entry in try list().entries {
            let text = entry.path.text
            let places = ["Library/Caches/", "tmp/", "Groups/\(TestHome.group)/Library/Caches/"]
            let isIn = places.contains { text.hasPrefix($0) }
            #expect(entry.isPurgeable == isIn, "\(text)")
        }
        #expect(try list("Library/Caches/x").entries.allSatisfy { $0.isPurgeable })
    }

    @Test func `what cannot be listed is an error`() throws {
        #expect(throws: Fault.errno(ENOENT)) { try list("missing") }
        #expect(throws: Fault.errno(ENOTDIR)) { try list("Documents/a") }
        #expect(throws: Fault.errno(ENOTDIR)) { try list("Documents/link") }
    }

    @Test func `a listing keeps no node`() throws {
        let before = volume.knownNodes
        _ = try list()
        _ = try list(limit: 2)
        _ = try list("Documents", after: "Documents/b/deep/f", limit: 1)
        #expect(volume.knownNodes == before)
    }

    @Test func `a deep tree is listed to its ground`() throws {
        var parent = try volume.node("Documents")
        for _ in 0..<500 { parent = try volume.makeDirectory("d", in: parent).node }
        #expect(try list("Documents").entries.map(\.path.count).max() == 501)
    }

    // MARK: Attributes by path

    @Test func `an attribute is set and removed by its path`() throws {
        let mark = Array(BackupMark.attributeName.utf8)
        try volume.change(attribute: mark, to: BackupMark.canonicalValue, of: path("Documents/a"))
        #expect(try volume.inspect(path("Documents/a")).isExcluded)
        try volume.change(attribute: mark, to: nil, of: path("Documents/a"))
        try volume.change(attribute: mark, to: nil, of: path("Documents/a"))
        #expect(try !volume.inspect(path("Documents/a")).isExcluded)
    }

    @Test func `an attribute that has its value already changes nothing`() throws {
        let (mark, name) = (Array(BackupMark.attributeName.utf8), Array(ProtectionClass.attributeName.utf8))
        let complete = Array("NSFileProtectionComplete".utf8)
        for (attribute, value) in [(mark, BackupMark.canonicalValue), (name, complete)] {
            for place in ["Documents/a", "Documents/b"] {
                #expect(try volume.change(attribute: attribute, to: value, of: path(place)))
                let status = { try HostPath.status("\(home.directory)/data/\(place)", following: false).raw.st_ctim }
                let before = try status()
                #expect(try !volume.change(attribute: attribute, to: value, of: path(place)))
                let after = try status()
                #expect(before.tv_sec == after.tv_sec && before.tv_nsec == after.tv_nsec)
                #expect(try volume.change(attribute: attribute, to: nil, of: path(place)))
                #expect(try !volume.change(attribute: attribute, to: nil, of: path(place)))
            }
        }
    }

    @Test func `rules hold for a path as for a call`() throws {
        let mark = Array(BackupMark.attributeName.utf8)
        func set(_ text: String) throws(Fault) {
            try volume.change(attribute: mark, to: BackupMark.canonicalValue, of: path(text))
        }
        #expect(throws: Fault.refused(.sealedBundle)) { try set("Notes.app/Info.plist") }
        #expect(throws: Fault.errno(EOPNOTSUPP)) { try set("Documents/link") }
        #expect(throws: Fault.errno(ENOENT)) { try set("Documents/missing") }
    }

    @Test func `an inspection has every form of an attribute`() throws {
        try volume.change(
            attribute: Array(BackupMark.attributeName.utf8), to: BackupMark.canonicalValue, of: path("Documents/a"))
        let names = try volume.inspect(path("Documents/a")).attributes.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(Set(names).count == names.count)
        for name in BackupMark.Form.allCases.flatMap(\.names) { #expect(names.contains(name), "\(name)") }
        #expect(names.contains(BackupInclusion.attributeName))
    }
}
