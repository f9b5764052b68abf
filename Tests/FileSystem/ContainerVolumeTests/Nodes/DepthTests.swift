// Trees whose depth an app chooses, and files with as many names as the host allows.

import CHostFaults
import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import ContainerVolume

@Suite("Directories as deep as an app likes")
struct DepthTests {
    private let home: TestHome
    private var volume: Volume { home.volume }

    /// In memory, where removing a directory takes no time to speak of.
    init() throws { home = try TestHome(in: "/dev/shm") }

    /// Makes directories in each other, and forgets none.
    private func descend(from top: NodeID, _ count: Int) throws -> [NodeID] {
        var nodes = [top]
        for _ in 0..<count { nodes.append(try volume.makeDirectory("d", in: nodes[nodes.count - 1]).node) }
        return nodes
    }

    /// Removes on the host what no other tool can remove at the end.
    private func removeTree() throws {
        try home.data.descriptor.openDirectory("Documents").removeTree("d")
    }

    private func closeAll(_ nodes: [NodeID]) {
        for id in nodes { if let node = volume.table.node(id) { volume.places.directories.drop(node) } }
    }

    @Test("Calls reach the bottom of 30,000 directories though none is open, and all are forgotten again")
    func bottom() throws {
        let result = Mutex<Result<Void, any Error>?>(nil)
        // A thread as a mount has it: its stack is that of a worker.
        let thread = try HostThread(name: "test") { [self] in
            let outcome = Result { try visitBottom() }
            result.withLock { $0 = outcome }
        }
        thread.join()
        try result.withLock { try $0?.get() }
        try removeTree()
    }

    private func visitBottom() throws {
        let depth = 30_000
        let nodes = try descend(from: try volume.node("Documents"), depth)
        let bottom = nodes[depth]
        closeAll(nodes)
        let file = try volume.make("file", in: bottom, "text")
        closeAll(nodes)
        #expect(String(decoding: try volume.bytes(of: file), as: UTF8.self) == "text")
        #expect(try volume.lookup("file", in: bottom).node == file)
        // Its end, for people.
        let shown = volume.homePath(of: file)
        #expect(shown.path?.hasSuffix("/d/d/file") == true)
        #expect(shown.cut > 0)
        #expect(volume.path(to: bottom)?.count == depth + 1)
        try volume.synchronizeDirectory(bottom)
        try volume.rename("file", in: bottom, to: "other", in: bottom, mode: .replacing)
        try volume.removeFile("other", in: bottom)
        volume.forget(file, count: 2)
        for node in nodes { volume.forget(node, count: 1) }
        #expect(volume.knownNodes == 1)
    }

    @Test("Look-up, open, create and status open as many directories at depth 10,000 as at depth 10")
    func counts() throws {
        let nodes = try descend(from: try volume.node("Documents"), 10_000)
        var opens: [Int] = []
        for depth in [10, 10_000] {
            let directory = nodes[depth]
            // The first call may have to find the directory again.
            try volume.make("warm", in: directory)
            let before = faults_opens()
            let file = try volume.make("file", in: directory, "text")
            _ = try volume.lookup("file", in: directory)
            _ = try volume.bytes(of: file)
            _ = try volume.status(of: file, handle: nil)
            _ = try volume.status(of: directory, handle: nil)
            opens.append(faults_opens() - before)
        }
        #expect(opens[0] == opens[1])
        try removeTree()
    }

    @Test("The way down to directories that were closed is gone once for many of them, and not for each")
    func wayDown() throws {
        let depth = 40_000
        let nodes = try descend(from: try volume.node("Documents"), depth)
        let before = faults_opens()
        // From the bottom up, as a removal goes.
        for node in nodes.reversed() { _ = try volume.status(of: node, handle: nil) }
        #expect(faults_opens() - before < 4 * depth)
        try removeTree()
    }

    @Test("A directory takes along what it hands down: its home, and the purge of the entry that it lies in")
    func handedDown() throws {
        let documents = try volume.node("Documents")
        let caches = try volume.node("Library/Caches")
        let top = try volume.makeDirectory("a", in: documents).node
        let middle = try volume.makeDirectory("b", in: top).node
        let bottom = try volume.makeDirectory("c", in: middle).node
        let table = volume.table
        func entry(of id: NodeID) -> Node? { table.node(id)?.scope?.purgeableEntry }
        #expect(entry(of: bottom) === nil)
        // Into the caches, out again with its own entry, and in below another entry.
        try volume.rename("a", in: documents, to: "x", in: caches, mode: .replacing)
        #expect([top, middle, bottom].allSatisfy { entry(of: $0)?.id == top })
        try volume.rename("x", in: caches, to: "a", in: documents, mode: .replacing)
        #expect([top, middle, bottom].allSatisfy { entry(of: $0) === nil && table.node($0)?.home != nil })
        let other = try volume.makeDirectory("other", in: caches).node
        try volume.rename("a", in: documents, to: "a", in: other, mode: .replacing)
        #expect([top, middle, bottom].allSatisfy { entry(of: $0)?.id == other })
        try volume.rename("b", in: top, to: "b", in: caches, mode: .replacing)
        #expect(entry(of: top)?.id == other)
        #expect([middle, bottom].allSatisfy { entry(of: $0)?.id == middle })
        try volume.rename("b", in: caches, to: "b", in: documents, mode: .replacing)
        #expect([middle, bottom].allSatisfy { entry(of: $0) === nil && table.node($0)?.home != nil })
    }
}

@Suite("Files with many names")
struct ManyNamesTests {
    @Test("Names come and go in any order, and each is found where it is")
    func names() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let other = try volume.makeDirectory("other", in: documents).node
        let file = try volume.make("0", in: documents, "text")
        let node = try #require(volume.table.node(file))
        for number in 1...200 {
            let directory = number % 2 == 0 ? documents : other
            #expect(try volume.link(file, to: FileName("\(number)")!, in: directory).node == file)
        }
        #expect(volume.table.names(of: node).count == 201)
        #expect(volume.table.parents(of: node).count == 2)
        for number in [0, 200, 7, 100] + Array(1...199) where volume.table.names(of: node).count > 1 {
            let directory = number % 2 == 0 ? documents : other
            guard (try? volume.removeFile(FileName("\(number)")!, in: directory)) != nil else { continue }
            #expect(String(decoding: try volume.bytes(of: file), as: UTF8.self) == "text")
        }
        #expect(volume.table.names(of: node).map(\.name) == ["199"])
        #expect(try volume.status(of: file, handle: nil).linkCount == 1)
    }
}
