// The nodes that a volume knows: looked up, forgotten, numbered.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("Nodes that a volume knows")
struct NodeTests {
    @Test("After everything was forgotten only the root is known, in whatever order it went")
    func forgotten() throws {
        let volume = try TestHome().volume
        #expect(volume.knownNodes == 1)
        let documents = try volume.node("Documents")
        let a = try volume.makeDirectory("a", in: documents).node
        let b = try volume.makeDirectory("b", in: a).node
        let file = try volume.make("file", in: b)
        #expect(try volume.lookup("file", in: b).node == file)
        #expect(volume.knownNodes == 5)
        // A directory stays as long as something below it is known.
        for node in [documents, a, b] { volume.forget(node, count: 1) }
        #expect(volume.knownNodes == 5)
        volume.forget(file, count: 1)
        #expect(volume.knownNodes == 5)
        volume.forget(file, count: 1)
        #expect(volume.knownNodes == 1)
        #expect(throws: Fault.errno(ESTALE)) { try volume.status(of: file, handle: nil) }
    }

    @Test("A file with names in two directories keeps neither of them", arguments: [false, true])
    func forgottenLinks(reversed: Bool) throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let a = try volume.makeDirectory("a", in: documents).node
        let b = try volume.makeDirectory("b", in: documents).node
        let file = try volume.make("file", in: reversed ? b : a)
        #expect(try volume.link(file, to: "link", in: reversed ? a : b).node == file)
        for node in [a, b, documents] { volume.forget(node, count: 1) }
        volume.forget(file, count: 2)
        #expect(volume.knownNodes == 1)
    }

    @Test("Forgetting more than was looked up, or what is not known, does no harm")
    func forgottenTooOften() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        volume.forget(documents, count: 1000)
        volume.forget(documents, count: 1)
        volume.forget(.root, count: 1)
        volume.forget(NodeID(rawValue: 999), count: 1)
        volume.forget(NodeID(rawValue: UInt64.max), count: 1)
        #expect(volume.knownNodes == 1)
        #expect(try volume.names(in: try volume.node("Documents")) == [])
    }

    @Test func `the place of a node that lies deep is its end and costs no more`() throws {
        let volume = try TestHome().volume
        let long = FileName(String(repeating: "n", count: 255))!
        var node = try volume.node("Documents")
        for depth in 1...40 {
            node = try volume.makeDirectory(long, in: node).node
            let place = volume.homePath(of: node)
            let whole = "Documents".utf8.count + depth * 256
            let path = try #require(place.path)
            #expect(place.app == ContainerIdentifier("com.example.Notes"))
            if whole <= HomePath.longest {
                #expect(path.utf8.count == whole && place.cut == 0)
            } else {
                #expect(path.hasPrefix(HomePath.mark + "n") && path.utf8.count <= HomePath.longest + 4)
                #expect(path.utf8.count - HomePath.mark.utf8.count + place.cut == whole)
            }
        }
        // An entry's name counts as well.
        #expect(volume.homePath(of: node, "entry").path?.hasSuffix("/entry") == true)
        #expect(volume.homePath(of: try volume.node("Documents")).path == "Documents")
    }

    @Test("A removed file's node is of use until it is forgotten, and its number tells it from the next")
    func generations() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        var seen: Set<[UInt64]> = []
        for _ in 0..<50 {
            let (entry, handle) = try volume.create("file", in: documents)
            volume.close(handle)
            #expect(seen.insert([entry.node.rawValue, entry.generation]).inserted)
            try volume.removeFile("file", in: documents)
            #expect(try volume.status(of: entry.node, handle: nil).linkCount == 0)
            volume.forget(entry.node, count: 1)
        }
        #expect(volume.knownNodes == 2)
    }

    @Test("Listed entries count as looked up, except those that were not taken")
    func listedEntries() throws {
        let volume = try TestHome().volume
        try volume.with("Documents") { (documents) throws(Fault) in
            for number in 0..<20 { volume.forget(try volume.make(FileName("f\(number)")!, in: documents), count: 1) }
            var taken: [NodeID] = []
            try volume.list(documents, from: 0, withEntries: true) { item in
                guard taken.count < 10 else { return false }
                if let entry = item.entry { taken.append(entry.node) }
                return true
            }
            #expect(volume.knownNodes == 12)
            for node in taken { volume.forget(node, count: 1) }
            #expect(volume.knownNodes == 2)
        }
        // The same for directories that are not on the host as they are shown.
        var top: [NodeID] = []
        try volume.list(.root, from: 0, withEntries: true) { item in
            if let entry = item.entry { top.append(entry.node) }
            return top.count < 4
        }
        for node in top { volume.forget(node, count: 1) }
        #expect(volume.knownNodes == 1)
    }

    @Test("A listing in pieces shows once each what stays, while other entries come and go", arguments: [1, 3, 7, 100])
    func listingPieces(piece: Int) throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        for number in 0..<200 { volume.forget(try volume.make(FileName("stays-\(number)")!, in: documents), count: 1) }
        for number in 0..<50 { volume.forget(try volume.make(FileName("goes-\(number)")!, in: documents), count: 1) }
        var seen: [String: Int] = [:]
        var position: Int64 = 0
        var round = 0
        var isMore = true
        while isMore {
            isMore = false
            var taken = 0
            try volume.list(documents, from: position, withEntries: false) { item in
                guard taken < piece else {
                    isMore = true
                    return false
                }
                taken += 1
                position = item.next
                seen[String(decoding: item.terminatedName.dropLast(), as: UTF8.self), default: 0] += 1
                return true
            }
            if round < 50 { try volume.removeFile(FileName("goes-\(round)")!, in: documents) }
            if round < 80 { volume.forget(try volume.make(FileName("comes-\(round)")!, in: documents), count: 1) }
            round += 1
        }
        for number in 0..<200 { #expect(seen["stays-\(number)"] == 1) }
        #expect(seen["."] == 1 && seen[".."] == 1)
        #expect(seen.values.allSatisfy { $0 == 1 })
    }

    @Test("The top level in pieces", arguments: [1, 2, 5])
    func topLevelPieces(piece: Int) throws {
        let volume = try TestHome().volume
        #expect(try volume.names(in: .root, piece: piece).count == 7)
        #expect(volume.knownNodes == 1)
    }

    @Test("Names of 255 bytes and of bytes that are no text")
    func names() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let long = FileName([UInt8](repeating: 65, count: 255))!
        let raw = FileName([0xFF, 0xFE, 10, 32])!
        for name in [long, raw] {
            let node = try volume.make(name, in: documents, "text")
            #expect(try volume.lookup(name, in: documents).node == node)
            var listed = false
            try volume.list(documents, from: 0, withEntries: false) { item in
                listed = listed || item.terminatedName == name.terminated
                return true
            }
            #expect(listed)
        }
    }
}
