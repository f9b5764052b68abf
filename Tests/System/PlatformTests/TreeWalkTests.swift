// Walks through trees of directories.

import Foundation
import Glibc
import Platform
import SandboxModel
import Testing

@Suite("A walk through a tree")
final class TreeWalkTests {
    private let path = "/dev/shm/tree-walk-\(UUID().uuidString)"
    private let top: SharedDescriptor

    init() throws {
        unsafe mkdir(path, 0o700)
        top = SharedDescriptor(try Descriptor.openDirectory(path: path))
    }

    deinit {
        guard let name = FileName(URL(filePath: path).lastPathComponent) else { return }
        _ = try? Descriptor.openDirectory(path: "/dev/shm").removeTree(name)
    }

    private func make(_ names: String...) throws {
        for name in names {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
    }

    /// Walks through everything, and gives each path; calls `body` at each directory.
    private func paths(_ walk: TreeWalk, _ body: (TreeWalk) throws -> Void = { _ in }) throws -> [String] {
        var found: [String] = []
        while let directory = walk.next() {
            found.append(walk.path.map(\.text).joined(separator: "/"))
            let reader = try directory.descriptor.entries()
            while let entry = try reader.next() { if entry.isDirectory { walk.add(entry.name) } }
            try body(walk)
        }
        return found
    }

    @Test("Every directory is come to once, after the one that it is in")
    func order() throws {
        try make("a/b/c", "a/d", "e")
        let found = try paths(TreeWalk(top))
        #expect(found.sorted() == ["", "a", "a/b", "a/b/c", "a/d", "e"])
        for path in found where path.contains("/") {
            let above = path.split(separator: "/").dropLast().joined(separator: "/")
            #expect(found.firstIndex(of: above)! < found.firstIndex(of: path)!)
        }
    }

    @Test("A chain of 10,000 directories is walked through, and the walk comes back to those beside it")
    func chain() throws {
        try make("beside")
        var directory = try top.descriptor.duplicate()
        for _ in 0..<10_000 {
            try directory.makeDirectory("d", mode: 0o700)
            directory = try directory.openDirectory("d")
        }
        var deepest = 0
        var names: Set<String> = []
        let walk = TreeWalk(top)
        while let directory = walk.next() {
            deepest = max(deepest, walk.depth)
            names.insert(walk.name?.text ?? "")
            let reader = try directory.descriptor.entries()
            while let entry = try reader.next() { walk.add(entry.name) }
        }
        #expect(deepest == 10_000)
        #expect(names == ["", "beside", "d"])
    }

    @Test("A part that is moved away during the walk is not followed, and what is beside it is still found")
    func moved() throws {
        let deep = (0..<200).map { _ in "d" }.joined(separator: "/")
        try make("a/x/\(deep)", "a/z", "other")
        var hasMoved = false
        let found = try paths(TreeWalk(top)) { walk in
            guard walk.depth == 202, !hasMoved else { return }
            hasMoved = true
            // The directory on the way, from under the walk.
            #expect(unsafe rename("\(self.path)/a/x", "\(self.path)/other/x") == 0)
        }
        #expect(hasMoved)
        #expect(found.contains("a/z") && found.contains("other"))
        #expect(!found.contains { $0.hasPrefix("a/d") || $0.hasPrefix("d") })
    }

    @Test(
        "A mode that keeps the owner out is lifted in the walk, and is as before after its end or when it is given up")
    func modes() throws {
        try make("closed/inner", "open")
        unsafe chmod("\(path)/closed", 0)
        func mode() throws -> mode_t { try top.descriptor.status(of: "closed").permissions }
        _ = try paths(TreeWalk(top, liftsModes: true)) { walk in
            guard walk.name == "closed" else { return }
            let now = try mode()
            #expect(now == 0o700)
        }
        #expect(try mode() == 0)
        do {
            let walk = TreeWalk(top, liftsModes: true)
            _ = walk.next()
            walk.add("closed")
            _ = walk.next()
            #expect(try mode() == 0o700)
        }
        #expect(try mode() == 0)
        unsafe chmod("\(path)/closed", 0o700)
    }
}
