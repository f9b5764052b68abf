// The space that containers take is counted as calls change it.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

private let documents = "Documents"

@Suite("The space that containers take")
struct SpaceTests {
    private let home: TestHome
    private var volume: Volume { home.volume }
    private var space: SpaceLedger { home.context.space }

    init() throws {
        // In memory: a host that allocates later adds blocks of its own, for which nobody asks.
        home = try TestHome(in: "/dev/shm")
        space.add(try walked)
    }

    /// The bytes that a walk through the container finds.
    private var walked: Int64 {
        get throws { try space.bytes(below: home.data.descriptor) }
    }

    private func expectCounted(_ what: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let walked = try self.walked
        #expect(space.used == walked, what, sourceLocation: sourceLocation)
    }

    @Test func `entries that are made and removed are counted`() throws {
        let parent = try volume.node(documents)
        let node = try volume.make("a", in: parent, String(repeating: "x", count: 100_000))
        try expectCounted("a file")
        _ = try volume.makeDirectory("d", in: parent)
        _ = try volume.makeSymbolicLink(
            "long", in: parent, target: Array(repeating: 120, count: 3000), caller: TestHome.caller)
        try expectCounted("a directory and a link")
        _ = try volume.link(node, to: "b", in: parent)
        try volume.removeFile("a", in: parent)
        try expectCounted("one name of two")
        try volume.removeFile("b", in: parent)
        try volume.removeDirectory("d", in: parent)
        try volume.removeFile("long", in: parent)
        try expectCounted("all gone")
    }

    @Test func `a removed file counts until it is closed`() throws {
        let parent = try volume.node(documents)
        let before = space.used
        let (_, handle) = try volume.create("open", in: parent)
        try volume.write(handle, Array(repeating: 1, count: 1 << 20), at: 0)
        try volume.removeFile("open", in: parent)
        #expect(space.used - before >= 1 << 20)
        try volume.write(handle, Array(repeating: 1, count: 1 << 20), at: 1 << 20)
        #expect(space.used - before >= 2 << 20)
        volume.close(handle)
        #expect(space.used == before)
    }

    @Test func `a removed file that is opened again counts until it is closed again`() throws {
        let parent = try volume.node(documents)
        let before = space.used
        let node = try volume.make("a", in: parent, String(repeating: "x", count: 100_000))
        try volume.removeFile("a", in: parent)
        #expect(space.used == before)
        // As by /proc/self/fd, of a descriptor that only names it.
        let handle = try volume.open(node, flags: O_RDWR)
        #expect(space.used - before >= 100_000)
        try volume.write(handle, Array(repeating: 1, count: 1 << 20), at: 0)
        #expect(space.used - before >= 1 << 20)
        volume.close(handle)
        #expect(space.used == before)
        var change = FileStatusChange()
        change.size = 0
        _ = try volume.changeStatus(change, of: node, handle: nil)
        try volume.setAttribute(Array("user.x".utf8), to: [UInt8](repeating: 1, count: 2000), flags: 0, of: node)
        #expect(space.used == before)
    }

    @Test func `a file that is replaced is given back`() throws {
        let parent = try volume.node(documents)
        try volume.make("old", in: parent, String(repeating: "x", count: 500_000))
        try volume.make("new", in: parent, "small")
        try volume.rename("new", in: parent, to: "old", in: parent, mode: .replacing)
        try expectCounted("replaced")
    }

    @Test func `a sparse file counts for what it holds`() throws {
        let parent = try volume.node(documents)
        let before = space.used
        let (_, handle) = try volume.create("sparse", in: parent)
        try volume.write(handle, [1], at: 1 << 30)
        volume.close(handle)
        #expect(space.used - before < 64 << 10)
        try expectCounted("a hole of a gigabyte")
    }

    @Test(arguments: UInt64(1)...12)
    func `a walk finds the same count after random calls`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parents = [try volume.node(documents), try volume.node("Library/Caches"), try volume.node("tmp")]
        let names: [FileName] = ["a", "b", "c", "d"]
        var open: [Handle] = []
        for _ in 0..<300 {
            let parent = parents.randomElement(using: &random)!
            let name = names.randomElement(using: &random)!
            let other = names.randomElement(using: &random)!
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1:
                if let (_, handle) = try? volume.create(name, in: parent, flags: O_RDWR) { open.append(handle) }
            case 2, 3, 4:
                guard let handle = open.randomElement(using: &random) else { continue }
                let count = Int.random(in: 1...200_000, using: &random)
                try? volume.write(
                    handle, Array(repeating: 7, count: count), at: Int.random(in: 0..<2_000_000, using: &random))
            case 5: if !open.isEmpty { volume.close(open.remove(at: Int.random(in: 0..<open.count, using: &random))) }
            case 6: try? volume.removeFile(name, in: parent)
            case 7: _ = try? volume.makeDirectory(name, in: parent)
            case 8: try? volume.removeDirectory(name, in: parent)
            case 9:
                let target = parents.randomElement(using: &random)!
                try? volume.rename(name, in: parent, to: other, in: target, mode: .replacing)
            case 10:
                guard let entry = try? volume.lookup(name, in: parent) else { continue }
                _ = try? volume.link(entry.node, to: other, in: parents.randomElement(using: &random)!)
            case 11:
                guard let handle = open.randomElement(using: &random) else { continue }
                let mode: Int32 = Bool.random(using: &random) ? 3 : 0
                try? volume.allocate(
                    handle, mode: mode, offset: Int64.random(in: 0..<1_000_000, using: &random),
                    count: Int64.random(in: 1...500_000, using: &random))
            case 12:
                guard let entry = try? volume.lookup(name, in: parent), entry.status.kind == .file else { continue }
                var change = FileStatusChange()
                change.size = Int64.random(in: 0..<1_500_000, using: &random)
                _ = try? volume.changeStatus(change, of: entry.node, handle: nil)
            default:
                guard let entry = try? volume.lookup(name, in: parent) else { continue }
                let value = [UInt8](repeating: 1, count: Int.random(in: 1...2000, using: &random))
                try? volume.setAttribute(Array("user.x".utf8), to: value, flags: 0, of: entry.node)
            }
        }
        for handle in open { volume.close(handle) }
        try expectCounted("seed \(seed)")
    }

    @Test(arguments: UInt64(1)...6)
    func `a walk finds the same count after random calls of several threads`(seed: UInt64) throws {
        let parent = try volume.node(documents)
        let volume = self.volume
        // The kernel's, of the directory: names in it change one at a time. Writes and closes come when they like.
        let directory = Mutex(())
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: seed * 100 + UInt64(thread))
            for _ in 0..<200 {
                let name = FileName("f\(Int.random(in: 0..<4, using: &random))")!
                let other = FileName("f\(Int.random(in: 0..<4, using: &random))")!
                let made = directory.withLock { _ in try? volume.create(name, in: parent, flags: O_RDWR) }
                guard let (entry, handle) = made else { continue }
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let bytes = [UInt8](repeating: 7, count: Int.random(in: 1...60_000, using: &random))
                    try? volume.write(handle, bytes, at: Int.random(in: 0..<300_000, using: &random))
                    let choice = Int.random(in: 0..<5, using: &random)
                    directory.withLock { _ in
                        switch choice {
                        case 0: try? volume.removeFile(name, in: parent)
                        case 1: try? volume.rename(name, in: parent, to: other, in: parent, mode: .replacing)
                        case 2: _ = try? volume.link(entry.node, to: other, in: parent)
                        case 3:
                            try? volume.setAttribute(
                                Array("user.x".utf8), to: [UInt8](repeating: 1, count: 500), flags: 0, of: entry.node)
                        default: break
                        }
                    }
                }
                volume.close(handle)
                volume.forget(entry.node, count: 1)
            }
        }
        try expectCounted("seed \(seed)")
    }

    @Test func `a count knows of a file that is open and has no name`() throws {
        let parent = try volume.node(documents)
        let (_, handle) = try volume.create("open", in: parent)
        try volume.write(handle, Array(repeating: 1, count: 1 << 20), at: 0)
        let (_, named) = try volume.create("named", in: parent)
        try volume.write(named, Array(repeating: 1, count: 1 << 20), at: 0)
        try volume.removeFile("open", in: parent)
        let used = space.used
        #expect(space.count(below: home.data, besides: home.context.openFiles) { true })
        // The container's own directory is not below itself.
        #expect(space.used == used - 4096)
        volume.close(handle)
        volume.close(named)
        #expect(try space.used == walked - 4096)
    }

    @Test func `a count beside a thousand changes finds what is there`() throws {
        let parent = try volume.node(documents)
        for number in 0..<200 {
            let directory = try volume.makeDirectory(FileName("d\(number)")!, in: parent).node
            try volume.make("f", in: directory, String(repeating: "x", count: 5000))
        }
        let root = home.data
        let isOver = Atomic<Bool>(false)
        let volume = self.volume
        let changing = Thread {
            for round in 0..<1000 {
                let name = FileName("d\(round % 200)")!
                let moved = FileName("m\(round % 200)")!
                let (from, to) = round / 200 % 2 == 0 ? (name, moved) : (moved, name)
                try? volume.rename(from, in: parent, to: to, in: parent, mode: .keeping)
                if let directory = try? volume.lookup(to, in: parent).node {
                    _ = try? volume.make(FileName("n\(round)")!, in: directory, String(repeating: "y", count: 9000))
                }
            }
            isOver.store(true, ordering: .releasing)
        }
        changing.start()
        var counts = 0
        repeat {
            #expect(space.count(below: root, besides: home.context.openFiles) { true })
            counts += 1
        } while !isOver.load(ordering: .acquiring)
        // A last count has seen the last change begun before it; what came while it ended is told besides.
        #expect(space.count(below: root, besides: home.context.openFiles) { true })
        // The container's own directory is not below itself.
        #expect(try space.used == walked - 4096)
    }
}
