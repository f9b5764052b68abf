// Random calls on a volume and on a model, whose answers must be the same.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

/// Does the same to a volume and to the model, and compares what both say.
private struct Comparison {
    let seed: UInt64
    let home: TestHome
    var generator: SeededGenerator
    let top = ModelNode(.directory)
    var open: [(handle: Handle, node: NodeID, model: ModelNode)] = []
    var step = 0
    var trace = ""

    var volume: Volume { home.volume }

    init(seed: UInt64) throws {
        self.seed = seed
        home = try TestHome()
        generator = SeededGenerator(seed: seed)
    }

    func check(_ condition: Bool, _ what: String) throws {
        try #require(condition, "seed \(seed), step \(step), \(trace): \(what)")
    }

    /// The call must give this error number, or succeed for 0.
    func same<Result>(_ expected: Int32, _ body: () throws(Fault) -> Result) throws -> Result? {
        let result: Result
        do throws(Fault) {
            result = try body()
        } catch {
            try check(error == .errno(expected), "gave \(error), expected \(expected)")
            return nil
        }
        try check(expected == 0, "succeeded, expected \(expected)")
        return result
    }

    mutating func pick<Element>(_ values: [Element]) -> Element { values.randomElement(using: &generator)! }

    mutating func name() -> FileName { pick(["a", "b", "c", "d", "e"]) }

    /// Any directory of the model, and the names that lead there.
    mutating func directory() -> (path: [FileName], model: ModelNode) {
        var path: [FileName] = []
        var model = top
        while path.count < 4, Int.random(in: 0..<3, using: &generator) > 0 {
            let below = model.entries.filter { $0.value.kind == .directory }.keys.sorted { $0.text < $1.text }
            guard let name = below.randomElement(using: &generator) else { break }
            path.append(name)
            model = model.entries[name]!
        }
        return (path, model)
    }

    func at<Result>(_ path: [FileName], _ body: (NodeID) throws(Fault) -> Result) throws(Fault) -> Result {
        try volume.with((["Documents"] + path.map(\.text)).joined(separator: "/"), body)
    }

    func lookUp<Result>(
        _ name: FileName, in parent: NodeID, _ body: (NodeID) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        let node = try volume.lookup(name, in: parent).node
        defer { volume.forget(node, count: 1) }
        return try body(node)
    }

    mutating func takeStep() throws {
        let (path, parent) = directory()
        let at = Target(path: path, parent: parent, name: name())
        let choice = Int.random(in: 0..<22, using: &generator)
        trace = "\(choice) \(path.map(\.text)) \(at.name.text)"
        switch choice {
        case 0...3: try create(at)
        case 4...5: try makeDirectory(at)
        case 6: try makeSymbolicLink(at)
        case 7...8: try openFile(at)
        case 9...12: try useOpenFile()
        case 13: try truncate(at)
        case 14: try removeFile(at)
        case 15: try removeDirectory(at)
        case 16...18: try rename(at)
        case 19: try link(at)
        case 20: try changeAttribute(at)
        default: try list(at)
        }
    }

    /// The entry that a step is about.
    struct Target {
        let path: [FileName]
        let parent: ModelNode
        let name: FileName

        var model: ModelNode? { parent.entries[name] }
    }

    private mutating func create(_ at: Target) throws {
        let made = try same(at.model == nil ? 0 : EEXIST) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in try volume.create(at.name, in: node) }
        }
        guard let (entry, handle) = made else { return }
        let file = ModelNode(.file)
        at.parent.entries[at.name] = file
        let bytes = generator.bytes(pick([0, 1, 100, 4096, 9000]))
        try volume.write(handle, bytes, at: 0)
        file.write(bytes, at: 0)
        try keepOrClose(handle, entry.node, file)
    }

    private func makeDirectory(_ at: Target) throws {
        let entry = try same(at.model == nil ? 0 : EEXIST) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in try volume.makeDirectory(at.name, in: node) }
        }
        guard let entry else { return }
        at.parent.entries[at.name] = ModelNode(.directory)
        volume.forget(entry.node, count: 1)
    }

    private mutating func makeSymbolicLink(_ at: Target) throws {
        let target = generator.bytes(20).map { $0 | 1 }
        let entry = try same(at.model == nil ? 0 : EEXIST) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in
                try volume.makeSymbolicLink(at.name, in: node, target: target, caller: TestHome.caller)
            }
        }
        guard let entry else { return }
        let link = ModelNode(.link)
        link.target = target
        at.parent.entries[at.name] = link
        volume.forget(entry.node, count: 1)
    }

    private mutating func openFile(_ at: Target) throws {
        guard let model = at.model, model.kind == .file else { return }
        let flags = pick([O_RDWR, O_RDWR | O_TRUNC])
        let (node, handle) = try self.at(at.path) { (node) throws(Fault) in
            let file = try volume.lookup(at.name, in: node).node
            return (file, try volume.open(file, flags: flags))
        }
        if flags & O_TRUNC != 0 { model.bytes = [] }
        try keepOrClose(handle, node, model)
    }

    private mutating func truncate(_ at: Target) throws {
        let size = pick([0, 1, 4095, 4096, 4097, 50_000, 300_000])
        guard let model = at.model, model.kind == .file else { return }
        var change = FileStatusChange()
        change.size = Int64(size)
        let status = try self.at(at.path) { (node) throws(Fault) in
            try lookUp(at.name, in: node) { (node) throws(Fault) in
                try volume.changeStatus(change, of: node, handle: nil)
            }
        }
        model.resize(to: size)
        try check(status.size == size, "size \(status.size)")
    }

    private func removeFile(_ at: Target) throws {
        let model = at.model
        let expected = model == nil ? ENOENT : model!.kind == .directory ? EISDIR : 0
        _ = try same(expected) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in try volume.removeFile(at.name, in: node) }
        }
        if expected == 0 {
            model!.linkCount -= 1
            at.parent.entries[at.name] = nil
        }
    }

    private func removeDirectory(_ at: Target) throws {
        let model = at.model
        let expected =
            model == nil ? ENOENT : model!.kind != .directory ? ENOTDIR : model!.entries.isEmpty ? 0 : ENOTEMPTY
        _ = try same(expected) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in try volume.removeDirectory(at.name, in: node) }
        }
        if expected == 0 { at.parent.entries[at.name] = nil }
    }

    private mutating func rename(_ at: Target) throws {
        let (newPath, target) = directory()
        let newName = name()
        let mode: Descriptor.RenameMode = pick([.replacing, .replacing, .keeping, .exchanging])
        trace += " → \(newPath.map(\.text)) \(newName.text) \(mode)"
        let expected = ModelNode.rename(at.name, in: at.parent, to: newName, in: target, mode: mode)
        _ = try same(expected) { () throws(Fault) in
            try self.at(at.path) { (from) throws(Fault) in
                try self.at(newPath) { (to) throws(Fault) in
                    try volume.rename(at.name, in: from, to: newName, in: to, mode: mode)
                }
            }
        }
    }

    private mutating func link(_ at: Target) throws {
        guard let model = at.model, model.kind != .directory else { return }
        let (newPath, target) = directory()
        let newName = name()
        let entry = try same(target.entries[newName] == nil ? 0 : EEXIST) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in
                try lookUp(at.name, in: node) { (file) throws(Fault) in
                    try self.at(newPath) { (node) throws(Fault) in try volume.link(file, to: newName, in: node) }
                }
            }
        }
        guard let entry else { return }
        model.linkCount += 1
        target.entries[newName] = model
        try check(entry.status.linkCount == model.linkCount, "\(entry.status.linkCount) links")
        volume.forget(entry.node, count: 1)
    }

    private mutating func changeAttribute(_ at: Target) throws {
        guard let model = at.model, model.kind != .link else { return }
        let key = pick(["user.a", "user.com.apple.b"])
        let value: [UInt8]? = Bool.random(using: &generator) ? generator.bytes(pick([0, 5, 500])) : nil
        _ = try same(value == nil && model.attributes[key] == nil ? ENODATA : 0) { () throws(Fault) in
            try self.at(at.path) { (node) throws(Fault) in
                try lookUp(at.name, in: node) { (node) throws(Fault) in
                    if let value {
                        try volume.setAttribute(Array(key.utf8), to: value, flags: 0, of: node)
                    } else {
                        try volume.removeAttribute(Array(key.utf8), of: node)
                    }
                }
            }
        }
        model.attributes[key] = value
    }

    private func list(_ at: Target) throws {
        let names = try self.at(at.path) { (node) throws(Fault) in try volume.names(in: node, piece: 2) }
        try check(names.sorted() == at.parent.entries.keys.map(\.text).sorted(), "listing: \(names)")
    }

    mutating func keepOrClose(_ handle: Handle, _ node: NodeID, _ model: ModelNode) throws {
        if open.count < 5, Bool.random(using: &generator) {
            open.append((handle, node, model))
        } else {
            volume.close(handle)
            volume.forget(node, count: 1)
        }
    }

    /// Something with a file that was opened before, which may have no name any more.
    mutating func useOpenFile() throws {
        guard !open.isEmpty else { return }
        let index = Int.random(in: 0..<open.count, using: &generator)
        let (handle, node, model) = open[index]
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            open.remove(at: index)
            volume.close(handle)
            volume.forget(node, count: 1)
        case 1:
            let offset = pick([0, 10, 4000, 4096, 60_000])
            let bytes = generator.bytes(pick([1, 100, 4096, 10_000]))
            try volume.write(handle, bytes, at: offset)
            model.write(bytes, at: offset)
        case 2:
            try check(try volume.bytes(handle) == model.bytes, "content of an open file")
        default:
            var change = FileStatusChange()
            change.size = Int64(pick([0, 5000, 100_000]))
            _ = try volume.changeStatus(change, of: node, handle: handle)
            model.resize(to: Int(change.size!))
            let status = try volume.status(of: node, handle: nil)
            try check(status.size == model.bytes.count, "size of an open file: \(status.size)")
            try check(status.linkCount == model.linkCount, "links of an open file: \(status.linkCount)")
        }
    }

    mutating func closeAll() {
        for file in open {
            volume.close(file.handle)
            volume.forget(file.node, count: 1)
        }
        open = []
    }

    /// The whole tree as the volume shows it is the model's.
    func compareTrees() throws {
        try compare(top, [])
    }

    private func compare(_ model: ModelNode, _ path: [FileName]) throws {
        let (status, names, attributes) = try at(path) { (node) throws(Fault) in
            let status = try volume.status(of: node, handle: nil)
            return (
                status, status.kind == .directory ? try volume.names(in: node) : [],
                try volume.attributeNames(of: node).map { String(decoding: $0, as: UTF8.self) }
            )
        }
        let place = path.map(\.text).joined(separator: "/")
        try check(attributes.sorted() == model.attributes.keys.sorted(), "attributes of \(place): \(attributes)")
        for (key, value) in model.attributes {
            let kept = try at(path) { (node) throws(Fault) in try volume.attribute(Array(key.utf8), of: node) }
            try check(kept == value, "attribute \(key) of \(place)")
        }
        switch model.kind {
        case .directory:
            try check(status.kind == .directory, "\(place) is no directory")
            try check(names.sorted() == model.entries.keys.map(\.text).sorted(), "entries of \(place): \(names)")
            for (name, below) in model.entries { try compare(below, path + [name]) }
        case .link:
            let target = try at(path) { (node) throws(Fault) in try volume.symbolicLinkTarget(of: node) }
            try check(target == model.target, "target of \(place)")
        case .file:
            try check(status.size == model.bytes.count, "size of \(place): \(status.size), not \(model.bytes.count)")
            try check(status.linkCount == model.linkCount, "links of \(place): \(status.linkCount)")
            let bytes = try at(path) { (node) throws(Fault) in try volume.bytes(of: node) }
            try check(bytes == model.bytes, "content of \(place)")
        }
    }
}

@Suite("A volume against a model")
struct ModelTests {
    @Test("Random calls leave what the model says, over restarts", arguments: 1...16 as ClosedRange<UInt64>)
    func randomCalls(seed: UInt64) throws {
        var comparison = try Comparison(seed: seed)
        for step in 1...400 {
            comparison.step = step
            try comparison.takeStep()
            if step % 100 == 0 {
                try comparison.compareTrees()
                comparison.closeAll()
                #expect(comparison.volume.knownNodes == 1, "seed \(seed), step \(step)")
                try comparison.home.restart()
                try comparison.compareTrees()
            }
        }
    }
}
