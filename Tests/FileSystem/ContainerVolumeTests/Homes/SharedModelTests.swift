// Random calls through two homes on one shared container, compared with a model.

import ContainerVolume
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

/// Two homes that make, move and remove directories and files in one group at random, compared with what the host has.
private struct SharedModel {
    let seed: UInt64
    let both: SharedHomes
    var generator: SeededGenerator
    /// The nodes that the kernel would hold: each counts as one lookup.
    var held: [(node: NodeID, home: Int, inode: UInt64, isDirectory: Bool)] = []
    var trace = ""

    var volume: Volume { both.volume }

    init(seed: UInt64) throws {
        self.seed = seed
        both = try SharedHomes()
        generator = SeededGenerator(seed: seed)
    }

    /// The tops that a home sees, in the mount and on the host.
    func tops(_ home: Int) -> [(mount: String, host: String)] {
        [(both.group(home), both.host), (both.documents(home), both.homes[home].directory + "/data/Documents")]
    }

    /// Every directory and file below a top, by inode.
    func found(_ home: Int) throws -> [UInt64: (path: String, isDirectory: Bool)] {
        var found: [UInt64: (path: String, isDirectory: Bool)] = [:]
        for (mount, host) in tops(home) {
            for path in try FileManager.default.subpathsOfDirectory(atPath: host) {
                var status = stat()
                guard unsafe lstat("\(host)/\(path)", &status) == 0 else { continue }
                found[UInt64(status.st_ino)] = ("\(mount)/\(path)", status.st_mode & S_IFMT == S_IFDIR)
            }
        }
        return found
    }

    mutating func directory(_ home: Int) throws -> String {
        let paths = tops(home).map(\.mount) + [tops(home)[0].mount]
        let below = try found(home).values.filter(\.isDirectory).map(\.path).sorted()
        return (paths + below).randomElement(using: &generator)!
    }

    mutating func hold(_ path: String, _ home: Int) throws {
        var node = NodeID.root
        for name in path.split(separator: "/") {
            let entry = try volume.lookup(FileName(String(name))!, in: node)
            node = entry.node
            held.append((node, home, entry.status.inode, entry.status.kind == .directory))
        }
    }

    mutating func step() throws {
        let home = Int.random(in: 0...1, using: &generator)
        let other = try directory(home)
        let place = try directory(home)
        let name = FileName("n\(Int.random(in: 0..<4, using: &generator))")!
        let newName = FileName("n\(Int.random(in: 0..<4, using: &generator))")!
        let kind = Int.random(in: 0..<10, using: &generator)
        trace += "\(home): \(kind) \(place)/\(name.text) \(other)/\(newName.text)\n"
        try hold(place, home)
        try hold(other, home)
        try? hold("\(place)/\(name.text)", home)
        try volume.with(place) { (from) throws(Fault) in
            try volume.with(other) { (to) throws(Fault) in
                do throws(Fault) {
                    switch kind {
                    case 0, 1: volume.forget(try volume.makeDirectory(name, in: from).node, count: 1)
                    case 2: volume.forget(try volume.make(name, in: from, name.text), count: 1)
                    case 3: try volume.removeDirectory(name, in: from)
                    case 4: try volume.removeFile(name, in: from)
                    case 5: try volume.rename(name, in: from, to: newName, in: to, mode: .exchanging)
                    default: try volume.rename(name, in: from, to: newName, in: to, mode: .replacing)
                    }
                } catch {
                    guard case .system(let code) = error,
                        [ENOENT, EEXIST, ENOTDIR, EISDIR, ENOTEMPTY, EINVAL].contains(code.code)
                    else { throw error }
                }
            }
        }
        if held.count > 200 { forget(held.count / 2) }
    }

    mutating func forget(_ count: Int) {
        for _ in 0..<count {
            let index = Int.random(in: 0..<held.count, using: &generator)
            volume.forget(held[index].node, count: 1)
            held.swapAt(index, held.count - 1)
            held.removeLast()
        }
    }

    func compare() throws {
        let found = try [0, 1].map { try self.found($0) }
        for (node, home, inode, isDirectory) in held {
            let status = try volume.status(of: node, handle: nil)
            #expect(status.inode == inode, "seed \(seed)\n\(trace)")
            let there = found[home][inode]
            let path = both.path(node)
            if isDirectory {
                guard let there else {
                    let isTop = path.map { !$0.contains("/n") } ?? true
                    #expect(isTop, "seed \(seed): \(path ?? "") is not there\n\(trace)")
                    continue
                }
                #expect(path == there.path, "seed \(seed)\n\(trace)")
            } else {
                let isAnywhere = there != nil || found[1 - home][inode] != nil
                #expect((status.linkCount == 0) == !isAnywhere, "seed \(seed)\n\(trace)")
                if isAnywhere { #expect(try volume.bytes(of: node).count == 2, "seed \(seed)\n\(trace)") }
            }
        }
        for home in [0, 1] {
            for (inode, (path, _)) in found[home] {
                try volume.with(path) { (node) throws(Fault) in
                    #expect(try volume.status(of: node, handle: nil).inode == inode, "seed \(seed)\n\(trace)")
                }
            }
        }
    }
}

@Suite("Two homes at work in one group at random")
struct SharedModelTests {
    @Test(
        "Every node is where the host has it, for both, and none is left at the end",
        arguments: 1...UInt64(rounds(6, full: 24)))
    func random(seed: UInt64) throws {
        var model = try SharedModel(seed: seed)
        for round in 0..<400 {
            try model.step()
            if round % 20 == 19 { try model.compare() }
        }
        model.forget(model.held.count)
        #expect(model.volume.knownNodes == 1, "seed \(seed)\n\(model.trace)")
    }
}
