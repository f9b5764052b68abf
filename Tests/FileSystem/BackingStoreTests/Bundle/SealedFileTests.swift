// An installed bundle whose backing copy was changed: reads give verified bytes or fail.

import BundleSeal
import DataProtection
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite("A sealed bundle that was changed", .serialized)
struct SealedFileTests {
    /// A container with a bundle.
    private final class Container {
        let scratch = Scratch(under: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/var/tmp")
        let reports = Reports()
        let context: StoreContext
        let key: BundleKey
        let directory: Descriptor
        /// The installed content by name.
        let contents: [String: [UInt8]]

        init() throws {
            try FileManager.default.createDirectory(atPath: scratch["Notes.app"], withIntermediateDirectories: false)
            var chance = SeededGenerator(seed: 3)
            var contents: [String: [UInt8]] = ["empty": [], "one": [1]]
            for (name, size) in [
                ("block", 4096), ("more", 4097), ("large", 300 * 4096 + 100), ("twin", 300 * 4096 + 100),
            ] {
                contents[name] = chance.bytes(size)
            }
            for (name, bytes) in contents { try Data(bytes).write(to: URL(filePath: scratch["Notes.app/\(name)"])) }
            self.contents = contents
            context = StoreContext(
                keys: Keybag.create(passcode: nil, uidKey: UIDKey()).1, history: SessionHistory(current: 1)
            ) { [reports] in reports.add($0) }
            key = BundleKey(UIDKey(), container: "one")
            directory = try Descriptor.open(path: scratch.path, flags: O_RDONLY | O_DIRECTORY)
            var verification: SealVerification?
            let tree = try BundleTree(of: SharedDescriptor(try directory.openDirectory("Notes.app")))
            _ = try BundleDigests.write(HashTrees(of: tree), verifying: &verification, in: directory, key: key)
        }

        func bundle(_ key: BundleKey? = nil) throws -> SealedBundle? {
            try SealedBundle(in: directory, name: "Notes.app", key: key ?? self.key)
        }

        /// Opens the file at one name as the installed file of another name.
        func open(_ name: String, as other: String? = nil, _ bundle: SealedBundle? = nil) throws -> SealedFile {
            let bundle = try #require(try bundle ?? self.bundle())
            let index = try #require(bundle.child(FileName(other ?? name)!, of: SealedBundle.top))
            let backing = SharedDescriptor(
                try bundle.root.descriptor.open(FileName(name)!, flags: O_RDONLY))
            return try SealedFile(backing, index, of: bundle, context: context)
        }

        func flip(_ name: String, at offset: Int) throws {
            let file = try Descriptor.open(path: scratch[name], flags: O_RDWR)
            let buffer = PageBuffer(count: 1)
            _ = try file.read(into: buffer, count: 1, from: Int64(offset))
            buffer.copy([buffer.bytes(0, count: 1)[0] ^ 0x10], to: 0)
            try file.write(from: buffer, count: 1, to: Int64(offset))
        }

        /// The offset of a file's tree among all trees.
        func tree(of name: String) throws -> Int {
            let bundle = try #require(try bundle())
            let index = try #require(bundle.child(FileName(name)!, of: SealedBundle.top))
            guard case .file(let file) = bundle.digests.entries[index].content else { throw SystemError.invalid }
            return Int(file.treeOffset)
        }

        /// Reads a range and compares it with the installed content.
        /// - Returns: false for `corrupt`.
        func read(_ file: SealedFile, _ name: String, _ range: Range<Int>) throws -> Bool {
            do {
                #expect(
                    try file.bytes(range.lowerBound, range.count) == Array(contents[name]![range]), "\(name) \(range)")
                return true
            } catch {
                #expect(error as? Fault == .corrupt, "\(name) \(range)")
                return false
            }
        }

        /// The blocks of a file that cannot be read, each by itself.
        func corrupt(_ name: String, _ file: SealedFile? = nil) throws -> [Int] {
            let file = try file ?? open(name)
            let size = contents[name]!.count
            return try stride(from: 0, to: size, by: 4096).compactMap { start in
                try read(file, name, start..<min(start + 4096, size)) ? nil : start / 4096
            }
        }
    }

    @Test func `the installed content is read, in any ranges`() throws {
        let container = try Container()
        let bundle = try #require(try container.bundle())
        for (name, content) in container.contents {
            let file = try container.open(name, bundle)
            #expect(file.size == content.count)
            #expect(try container.corrupt(name, file) == [])
            #expect(try file.bytes(content.count, 10) == [])
            #expect(try file.bytes(content.count + 5000, 10) == [])
        }
        var chance = SeededGenerator(seed: 1)
        let file = try container.open("large", bundle)
        for _ in 0..<200 {
            let start = Int.random(in: 0..<Int(file.size), using: &chance)
            let count = [1, 4096, 10_000, 1 << 20].randomElement(using: &chance)!
            #expect(try container.read(file, "large", start..<min(start + count, Int(file.size))))
        }
        #expect(container.reports.all == [])
    }

    @Test(arguments: ["one", "block", "more", "large"]) func `a changed block is not read, and all others are`(
        name: String
    )
        throws
    {
        let container = try Container()
        let size = container.contents[name]!.count
        for block in [0, 1, 127, 128, 255, 256, 299, 300] where block * 4096 < size {
            let place = min(block * 4096 + 4095, size - 1)
            let inode = try container.open(name).backing.descriptor.status().inode
            try container.flip("Notes.app/\(name)", at: place)
            #expect(try container.corrupt(name) == [block])
            #expect(container.reports.all.last == Corruption(inode: inode, place: .block(Int64(block))))
            // Nor is any range of which it is a part.
            let file = try container.open(name)
            for range in [max(0, place + 1 - (1 << 20))..<place + 1, max(0, place - 5000)..<size, place..<place + 1] {
                #expect(throws: Fault.corrupt) { try file.bytes(range.lowerBound, range.count) }
            }
            try container.flip("Notes.app/\(name)", at: place)
            #expect(try container.corrupt(name, file) == [])
        }
    }

    @Test func `a changed tree is not believed`() throws {
        let container = try Container()
        let tree = try container.tree(of: "large")
        let all = Array(0...300)
        // One block over three, each over 128 of the content's.
        for (offset, corrupt) in [
            (0, all), (4095, all), (4096, Array(0..<128)), (8191, Array(0..<128)), (8192, Array(128..<256)),
            (12288, Array(256...300)), (16383, Array(256...300)),
        ] {
            try container.flip("HashTrees", at: tree + offset)
            #expect(try container.corrupt("large") == corrupt, "at \(offset)")
            #expect(try container.corrupt("twin") == [])
            try container.flip("HashTrees", at: tree + offset)
        }
        // Verified blocks may still be used.
        let file = try container.open("large")
        #expect(try container.corrupt("large", file) == [])
        for offset in stride(from: 0, to: 16384, by: 4096) { try container.flip("HashTrees", at: tree + offset) }
        #expect(try container.corrupt("large", file) == [])
        #expect(try container.corrupt("large") == all)
    }

    @Test func `a tree that fits a changed content is not believed either`() throws {
        let container = try Container()
        try container.flip("Notes.app/large", at: 0)
        let list = try Data(contentsOf: URL(filePath: container.scratch["Digests"]))
        // Trees of the changed content, with the list of the installed one.
        _ = try sealedBundle(in: container.scratch.path)
        try list.write(to: URL(filePath: container.scratch["Digests"]))
        #expect(try container.corrupt("large") == Array(0...300))
        #expect(try container.corrupt("twin") == [])
    }

    @Test func `content that was cut is not read where it is missing, and none is added`() throws {
        let container = try Container()
        let path = container.scratch["Notes.app/large"]
        let size = container.contents["large"]!.count
        let whole = try Data(contentsOf: URL(filePath: path))
        for length in [0, 1, 4095, 4096, 128 * 4096, size - 1] {
            try Descriptor.open(path: path, flags: O_RDWR).truncate(to: Int64(length))
            #expect(try container.corrupt("large") == Array(length / 4096...300), "cut to \(length)")
            #expect(try container.open("large").size == size)
            try whole.write(to: URL(filePath: path))
        }
        try Descriptor.open(path: path, flags: O_RDWR).truncate(to: Int64(size + 9000))
        let file = try container.open("large")
        #expect(try container.corrupt("large", file) == [])
        #expect(try file.bytes(size - 10, 100).count == 10)
        #expect(try file.bytes(size, 100) == [])
        try Data([1, 2, 3]).write(to: URL(filePath: container.scratch["Notes.app/empty"]))
        #expect(try container.open("empty").bytes(0, 10) == [])
    }

    @Test func `trees that are missing or cut`() throws {
        let container = try Container()
        let path = container.scratch["HashTrees"]
        let whole = try Data(contentsOf: URL(filePath: path))
        for length in [0, 4096, whole.count - 1] {
            try whole.prefix(length).write(to: URL(filePath: path))
            for name in ["large", "twin", "more"] { _ = try container.corrupt(name) }
            let read = try ["large", "twin", "more"].map { try container.corrupt($0).isEmpty }
            #expect(read.contains(false), "\(length)")
            // Without a tree of its own, a file of one block needs none.
            #expect(try container.corrupt("block") == [])
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(try container.bundle() == nil)
        // A fifo must not block.
        try container.directory.makeNode("HashTrees", mode: S_IFIFO | 0o600)
        #expect(try container.bundle() == nil)
    }

    @Test func `a list of digests is this device's for this container, or nobody's`() throws {
        let container = try Container()
        let path = container.scratch["Digests"]
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        #expect(try container.bundle() != nil)
        for place in stride(from: 0, to: whole.count, by: 5) {
            var changed = whole
            changed[place] ^= 1 << UInt8(place % 8)
            try Data(changed).write(to: URL(filePath: path))
            #expect(try container.bundle() == nil, "byte \(place)")
        }
        for changed in [[], Array(whole.dropLast()), whole + [0], Array(whole.dropFirst()), Array(whole.suffix(32))] {
            try Data(changed).write(to: URL(filePath: path))
            #expect(try container.bundle() == nil)
        }
        try Data(whole).write(to: URL(filePath: path))
        #expect(try container.bundle(BundleKey(UIDKey(), container: "one")) == nil)
        let uid = UIDKey()
        let entries = try #require(try container.bundle()).digests
        try Data(entries.encoded(BundleKey(uid, container: "two"))).write(to: URL(filePath: path))
        #expect(try container.bundle(BundleKey(uid, container: "one")) == nil)
        #expect(try container.bundle(BundleKey(uid, container: "two")) != nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(try container.bundle() == nil)
        try container.directory.makeNode("Digests", mode: S_IFIFO | 0o600)
        #expect(try container.bundle() == nil)
    }

    @Test func `names that were not installed are not found`() throws {
        let container = try Container()
        try Data([1]).write(to: URL(filePath: container.scratch["Notes.app/new"]))
        let bundle = try #require(try container.bundle())
        #expect(bundle.child("new", of: SealedBundle.top) == nil)
        #expect(bundle.child("one", of: SealedBundle.top) != nil)
        let file = try #require(bundle.child("one", of: SealedBundle.top))
        #expect(bundle.child("one", of: file) == nil)
    }

    @Test func `a file in another's place is not read as it`() throws {
        let container = try Container()
        for (name, other) in [
            ("twin", "large"), ("large", "twin"), ("more", "block"), ("block", "more"), ("one", "block"),
        ] {
            let file = try container.open(name, as: other)
            let size = container.contents[other]!.count
            for start in stride(from: 0, to: size, by: 4096) {
                #expect(throws: Fault.corrupt) { try file.bytes(start, min(4096, size - start)) }
            }
        }
        #expect(try container.open("large", as: "empty").bytes(0, 10) == [])
        // The same content under another name is the same content.
        try FileManager.default.removeItem(atPath: container.scratch["Notes.app/twin"])
        try FileManager.default.linkItem(
            atPath: container.scratch["Notes.app/large"], toPath: container.scratch["Notes.app/twin"])
        #expect(try container.corrupt("twin").count == 301)
        #expect(try container.corrupt("large") == [])
    }

    @Test(.timeLimit(.minutes(1))) func `random changes never make a read return other bytes`() throws {
        let container = try Container()
        let names = ["one", "block", "more", "large", "twin"]
        for seed in 1...60 as ClosedRange<UInt64> {
            var chance = SeededGenerator(seed: seed)
            let name = names.randomElement(using: &chance)!
            let file = try container.open(name)
            let size = container.contents[name]!.count
            var flips: [(String, Int)] = []
            for _ in 0..<Int.random(in: 1...3, using: &chance) {
                let target = Bool.random(using: &chance) ? "Notes.app/\(name)" : "HashTrees"
                let length = try FileManager.default.attributesOfItem(atPath: container.scratch[target])[.size] as! Int
                let place = Int.random(in: 0..<length, using: &chance)
                flips.append((target, place))
                try container.flip(target, at: place)
            }
            for _ in 0..<12 {
                let start = Int.random(in: 0..<size, using: &chance)
                let count = [1, 4096, 70_000, 1 << 20].randomElement(using: &chance)!
                _ = try container.read(file, name, start..<min(start + count, size))
            }
            for (target, place) in flips { try container.flip(target, at: place) }
            #expect(try container.read(file, name, 0..<min(size, 1 << 20)), "seed \(seed)")
        }
    }
}

extension SealedFile {
    fileprivate func bytes(_ offset: Int, _ count: Int) throws -> [UInt8] {
        var result: [UInt8] = []
        try read(count: count, from: Int64(offset)) { read in
            for index in 0..<read.segmentCount {
                let (buffer, start, count) = read.segment(index)
                result += buffer.bytes(start, count: count)
            }
        }
        return result
    }
}
