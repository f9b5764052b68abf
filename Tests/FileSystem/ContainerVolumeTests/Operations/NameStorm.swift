// Threads that give, take and exchange names of files at random in a few directories, and what must hold afterwards.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

/// A storm over some directories, in one home or in each home that shows them.
struct NameStorm {
    var volume: Volume
    /// For each home, the directories; the threads take the homes in turn.
    let paths: [[String]]
    /// The same directories on the host.
    let hosts: [String]
    let seed: UInt64
    /// Whether a rename may replace a file, so that the number of names is not known.
    let replaces: Bool
    /// The names that are left, as far as that is known.
    private var balance = 0

    init(volume: Volume, paths: [[String]], hosts: [String], seed: UInt64, replaces: Bool) {
        self.volume = volume
        self.paths = paths
        self.hosts = hosts
        self.seed = seed
        self.replaces = replaces
    }

    mutating func run(threads: Int, steps: Int) throws {
        let looked = try paths.map { paths in try paths.map { path in try look(path) } }
        let faults = Mutex<[String]>([])
        let balances = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 0..<threads {
            let places = looked[number % looked.count].map { $0.last! }
            Thread.detachNewThread { [volume, seed, replaces] in
                var worker = StormWorker(
                    volume: volume, places: places, number: number, seed: seed, replaces: replaces)
                do throws(Fault) {
                    try worker.run(steps)
                } catch {
                    faults.withLock { $0.append("thread \(number), \(worker.doing): \(error)") }
                }
                let balance = worker.balance
                balances.withLock { $0.append(balance) }
                done.signal()
            }
        }
        for _ in 0..<threads { done.wait() }
        for nodes in looked.joined() { for node in nodes.reversed() { volume.forget(node, count: 1) } }
        #expect(faults.withLock { $0 } == [], "seed \(seed)")
        balance = balances.withLock { $0 }.reduce(0, +)
    }

    /// The nodes on the way to a directory.
    private func look(_ path: String) throws(Fault) -> [NodeID] {
        var nodes: [NodeID] = []
        for name in path.split(separator: "/") {
            nodes.append(try volume.lookup(FileName(String(name))!, in: nodes.last ?? .root).node)
        }
        return nodes
    }

    /// Every name that is left leads to a file, with its content and as many names as it has, in each home.
    func verify() throws {
        var isFirst = true
        for paths in self.paths {
            var names: [NodeID: Int] = [:]
            for (path, host) in zip(paths, hosts) {
                let nodes = try look(path)
                let listed = try volume.names(in: nodes.last!).sorted()
                #expect(listed == (try FileManager.default.contentsOfDirectory(atPath: host).sorted()), "\(path)")
                for name in listed {
                    let node = try volume.lookup(FileName(name)!, in: nodes.last!).node
                    names[node, default: 0] += 1
                    let isWhole = StormWorker.isWhole(try volume.bytes(of: node))
                    #expect(isWhole, "\(path)/\(name), seed \(seed)")
                }
                for node in nodes.reversed() { volume.forget(node, count: 1) }
            }
            for (node, count) in names {
                #expect(try volume.status(of: node, handle: nil).linkCount == count)
                volume.forget(node, count: UInt64(count))
            }
            let total = names.values.reduce(0, +)
            if !replaces { #expect(total == balance, "seed \(seed)") }
            if isFirst { #expect(total > 0) }
            isFirst = false
        }
    }
}

/// One thread's calls. Names of the storm are everybody's; a file of its own and a directory of its own are its alone.
struct StormWorker {
    let volume: Volume
    let places: [NodeID]
    let number: Int
    let replaces: Bool
    private var generator: SeededGenerator
    private var made = 0
    private var home: NodeID
    private(set) var balance = 0
    private(set) var doing = ""

    init(volume: Volume, places: [NodeID], number: Int, seed: UInt64, replaces: Bool) {
        self.volume = volume
        self.places = places
        self.number = number
        self.replaces = replaces
        generator = SeededGenerator(seed: seed * 100 + UInt64(number))
        home = places[0]
    }

    // MARK: Content that tells whose it is

    static func content(_ file: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(file))
        return Array("\(file)\n".utf8) + generator.bytes([0, 100, 5000, 30_000][file % 4])
    }

    static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        return Int(String(decoding: bytes[..<end], as: UTF8.self)).map { content($0) == bytes } ?? false
    }

    // MARK: Calls

    mutating func run(_ steps: Int) throws(Fault) {
        try make(own)
        for step in 0..<steps {
            let call = Int.random(in: 0..<12, using: &generator)
            doing = "step \(step), call \(call)"
            switch call {
            case 0, 1: try give()
            case 2: try link()
            case 3: try remove()
            case 4, 5, 6: try rename()
            case 7: try read()
            case 8: try removeWhileOpen()
            case 9: try changeAttributes()
            case 10: try moveOwn()
            default: try step % 4 == 0 ? moveDirectory() : list()
            }
        }
    }

    private var own: FileName { FileName("own-\(number)")! }

    private mutating func any() -> (name: FileName, place: NodeID) {
        let names: [FileName] = ["a", "b", "c", "d", "e"]
        return (names.randomElement(using: &generator)!, places.randomElement(using: &generator)!)
    }

    /// A call on a name that others give and take too.
    private func attempt<Result>(_ call: () throws(Fault) -> Result) throws(Fault) -> Result? {
        do throws(Fault) {
            return try call()
        } catch {
            guard error == .errno(ENOENT) || error == .errno(EEXIST) else { throw error }
            return nil
        }
    }

    /// - Returns: whether there was such a name, and room for the other.
    private func succeeds(_ call: () throws(Fault) -> Void) throws(Fault) -> Bool {
        let isDone: Bool? = try attempt { () throws(Fault) in
            try call()
            return true
        }
        return isDone ?? false
    }

    private func lookUp(_ at: (name: FileName, place: NodeID)) throws(Fault) -> NodeID? {
        try attempt { () throws(Fault) in try volume.lookup(at.name, in: at.place).node }
    }

    private mutating func make(_ name: FileName) throws(Fault) {
        made += 1
        let (entry, handle) = try volume.create(name, in: home)
        try volume.write(handle, StormWorker.content(number * 1_000_000 + made), at: 0)
        volume.close(handle)
        volume.forget(entry.node, count: 1)
        balance += 1
    }

    private func check(_ handle: Handle) throws(Fault) {
        guard StormWorker.isWhole(try volume.bytes(handle)) else { throw .corrupt }
    }

    /// Makes a file, and gives it a name of the storm: the kernel lets nobody find it before it is whole.
    private mutating func give() throws(Fault) {
        let name = FileName("new-\(number)-\(made)")!
        let target = any()
        let mode: Descriptor.RenameMode = replaces ? .replacing : .keeping
        try make(name)
        let isGiven = try succeeds { () throws(Fault) in
            try volume.rename(name, in: home, to: target.name, in: target.place, mode: mode)
        }
        if isGiven { return }
        try volume.removeFile(name, in: home)
        balance -= 1
    }

    private mutating func link() throws(Fault) {
        let (source, target) = (any(), any())
        guard let node = try lookUp(source) else { return }
        defer { volume.forget(node, count: 1) }
        guard let entry = try attempt({ () throws(Fault) in try volume.link(node, to: target.name, in: target.place) })
        else { return }
        balance += 1
        volume.forget(entry.node, count: 1)
        guard entry.node == node else { throw .corrupt }
    }

    private mutating func remove() throws(Fault) {
        let at = any()
        if try succeeds({ () throws(Fault) in try volume.removeFile(at.name, in: at.place) }) { balance -= 1 }
    }

    private mutating func rename() throws(Fault) {
        let (source, target) = (any(), any())
        let modes: [Descriptor.RenameMode] = replaces ? [.replacing, .keeping, .exchanging] : [.keeping, .exchanging]
        let mode = modes.randomElement(using: &generator)!
        _ = try succeeds { () throws(Fault) in
            try volume.rename(source.name, in: source.place, to: target.name, in: target.place, mode: mode)
        }
    }

    /// A file that was found can be opened, though its names go.
    private mutating func read() throws(Fault) {
        guard let node = try lookUp(any()) else { return }
        defer { volume.forget(node, count: 1) }
        let handle = try volume.open(node, flags: O_RDONLY)
        defer { volume.close(handle) }
        try check(handle)
    }

    private mutating func removeWhileOpen() throws(Fault) {
        let at = any()
        guard let node = try lookUp(at) else { return }
        defer { volume.forget(node, count: 1) }
        let handle = try volume.open(node, flags: O_RDWR)
        defer { volume.close(handle) }
        if try succeeds({ () throws(Fault) in try volume.removeFile(at.name, in: at.place) }) { balance -= 1 }
        let bytes = try volume.bytes(handle)
        try volume.write(handle, bytes, at: 0)
        try check(handle)
        try volume.synchronize(handle, dataOnly: true)
    }

    private mutating func changeAttributes() throws(Fault) {
        guard let node = try lookUp(any()) else { return }
        defer { volume.forget(node, count: 1) }
        var change = FileStatusChange()
        change.mode = [0o600, 0o644, 0o4755].randomElement(using: &generator)!
        _ = try volume.changeStatus(change, of: node, handle: nil)
        let value = generator.bytes(Int.random(in: 0..<500, using: &generator))
        try volume.setAttribute(Array("user.color".utf8), to: value, flags: 0, of: node)
        guard try volume.status(of: node, handle: nil).kind == .file else { throw .corrupt }
    }

    /// Moves a file that nobody else touches: nothing may fail.
    private mutating func moveOwn() throws(Fault) {
        let target = any().place
        try volume.rename(own, in: home, to: own, in: target, mode: .replacing)
        home = target
        let node = try volume.lookup(own, in: home).node
        defer { volume.forget(node, count: 1) }
        let second = FileName("second-\(number)")!
        volume.forget(try volume.link(node, to: second, in: any().place).node, count: 1)
        guard try volume.status(of: node, handle: nil).linkCount == 2 else { throw .corrupt }
        for place in places where try succeeds({ () throws(Fault) in try volume.removeFile(second, in: place) }) {
            break
        }
        guard try volume.status(of: node, handle: nil).linkCount == 1 else { throw .corrupt }
        let handle = try volume.open(node, flags: O_RDONLY)
        defer { volume.close(handle) }
        guard try volume.bytes(handle) == StormWorker.content(number * 1_000_000 + 1) else { throw .corrupt }
    }

    /// Moves a directory with a file in it, for which every other call waits.
    private mutating func moveDirectory() throws(Fault) {
        let name = FileName("directory-\(number)")!
        let (from, to) = (any().place, any().place)
        let directory = try volume.makeDirectory(name, in: from).node
        defer { volume.forget(directory, count: 1) }
        volume.forget(try volume.make("inner", in: directory, "inner"), count: 1)
        if from != to { try volume.rename(name, in: from, to: name, in: to, mode: .keeping) }
        try volume.removeFile("inner", in: directory)
        try volume.removeDirectory(name, in: to)
    }

    private mutating func list() throws(Fault) {
        try volume.list(any().place, from: 0, withEntries: true) { item in
            if let entry = item.entry { volume.forget(entry.node, count: 1) }
            return true
        }
    }
}
