// Changes of files through a volume, with the fsync(2) of an application between them.

import BackingStore
import ContainerVolume
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

/// An application's files in `Documents`, and their histories.
final class RecordedFiles {
    private(set) var histories: [String: FileHistory] = [:]
    private var open: [String: ContainerVolume.FileHandle] = [:]
    private let volume: Volume
    private let documents: NodeID
    private var nodes: [String: NodeID] = [:]
    private var moment = 0
    private var generator = SeededGenerator(seed: 5)
    private var directories: [String: NodeID]

    init(_ device: BootedDevice) throws {
        let app = try device.app(id("com.example.Notes"))
        let home = Home(
            app: app.identifier, bundleName: app.bundleName, bundle: try device.sealedBundle(of: app),
            data: SharedDescriptor(try device.directory.container(.data, app.data)), groups: [:], iCloud: [:],
            owner: geteuid(), group: getegid(), isPrivate: true)
        let root = SharedDescriptor(try device.directory.root.duplicate())
        volume = Volume(view: .home(home), device: root, context: device.context)
        documents = try volume.lookup("Documents", in: .root).node
        directories = ["": documents]
    }

    private func advance() -> Int {
        moment += 1
        HostTrace.mark(moment)
        return moment
    }

    private func place(_ path: String) -> (NodeID, FileName) {
        let parts = path.split(separator: "/")
        return (directories[parts.dropLast().joined(separator: "/")]!, FileName(String(parts.last!))!)
    }

    private static let caller = Caller(user: geteuid(), group: getegid(), thread: getpid())

    func makeDirectory(_ path: String, mode: mode_t = 0o755) throws {
        let (parent, name) = place(path)
        directories[path] = try volume.makeDirectory(name, in: parent, mode: mode, caller: RecordedFiles.caller).node
    }

    func create(_ path: String) throws {
        let (parent, name) = place(path)
        histories[path, default: FileHistory()].change(to: [], at: advance())
        let (entry, handle) = try volume.create(
            name, in: parent, mode: 0o644, flags: O_RDWR | O_EXCL, caller: RecordedFiles.caller)
        (nodes[path], open[path]) = (entry.node, handle)
    }

    /// Writes so many random bytes.
    func write(_ path: String, at offset: Int, count: Int) throws {
        let bytes = generator.bytes(count)
        var content = histories[path]!.present!
        content += [UInt8](repeating: 0, count: max(0, offset + count - content.count))
        content.overwrite(from: offset, with: bytes)
        histories[path]!.change(to: content, written: offset..<offset + count, at: advance())
        _ = try unsafe volume.write(open[path]!, bytes: bytes.span.bytes, to: Int64(offset))
    }

    func append(_ path: String, count: Int) throws {
        try write(path, at: histories[path]!.present!.count, count: count)
    }

    func truncate(_ path: String, to length: Int) throws {
        var content = Array(histories[path]!.present!.prefix(length))
        content += [UInt8](repeating: 0, count: length - content.count)
        histories[path]!.change(to: content, at: advance())
        var change = FileStatusChange()
        change.size = Int64(length)
        _ = try volume.changeStatus(change, of: nodes[path]!, handle: open[path])
    }

    func punch(_ path: String, _ range: Range<Int>) throws {
        var content = histories[path]!.present!
        content.clear(range.clamped(to: 0..<content.count))
        histories[path]!.change(to: content, written: range, at: advance())
        try volume.allocate(
            open[path]!, mode: 0x02 | 0x01, offset: Int64(range.lowerBound),
            count: Int64(range.count))
    }

    func synchronize(_ path: String, dataOnly: Bool = false) throws {
        try volume.synchronize(open[path]!, dataOnly: dataOnly)
        histories[path]!.promise(at: advance())
    }

    func synchronizeDirectory(_ path: String) throws {
        try volume.synchronizeDirectory(directories[path]!)
        _ = advance()
    }

    func close(_ path: String) { volume.close(open.removeValue(forKey: path)!) }

    func openAgain(_ path: String) throws {
        let (parent, name) = place(path)
        open[path] = try volume.open(try volume.lookup(name, in: parent).node, flags: O_RDWR)
    }

    func rename(_ path: String, to newPath: String) throws {
        let ((parent, name), (newParent, newName)) = (place(path), place(newPath))
        let (now, content) = (advance(), histories[path]!.present)
        histories[path]!.change(to: nil, at: now)
        histories[newPath, default: FileHistory()].change(to: content, at: now)
        try volume.rename(name, in: parent, to: newName, in: newParent, mode: .replacing)
        (open[newPath], nodes[newPath]) = (open.removeValue(forKey: path), nodes.removeValue(forKey: path))
    }

    func link(_ path: String, to newPath: String) throws {
        let ((parent, name), (newParent, newName)) = (place(path), place(newPath))
        histories[newPath, default: FileHistory()].change(to: histories[path]!.present, at: advance())
        _ = try volume.link(try volume.lookup(name, in: parent).node, to: newName, in: newParent)
    }

    /// A change that chance picks, near the edges of blocks and groups as often as anywhere.
    func changeByChance(_ path: String, _ generator: inout SeededGenerator) throws {
        let edge =
            [0, 4096, 8192, 262_144].randomElement(using: &generator)! + Int.random(in: 0...2, using: &generator)
        let place = Bool.random(using: &generator) ? edge : Int.random(in: 0..<20_000, using: &generator)
        let count = Int.random(in: 1...[10, 4096, 9000].randomElement(using: &generator)!, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: try truncate(path, to: place)
        case 1: try punch(path, place..<place + count)
        case 2, 3: try append(path, count: count)
        case 4, 5: try synchronize(path, dataOnly: Bool.random(using: &generator))
        case 6:
            close(path)
            try openAgain(path)
        default: try write(path, at: place, count: count)
        }
    }

    /// The names and contents of all files are durable now.
    func promiseAll() {
        let now = advance()
        for path in histories.keys { histories[path]!.promise(at: now) }
    }

    /// The names in a directory are durable, of contents that were promised before.
    func promise(_ path: String) { histories[path]!.promise(at: advance()) }
}

extension SimulatedHost {
    /// Records changes of files.
    private static func record(
        _ name: String, _ body: (BootedDevice, Scratch, RecordedFiles) throws -> Void
    ) throws -> SimulatedHost {
        let scratch = Scratch(under: HostTree.place)
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        let files = try RecordedFiles(device)
        let trace = try HostTrace(of: scratch.path) { try body(device, scratch, files) }
        let histories = files.histories
        let host = SimulatedHost(name: name, trace: trace) { remains, passed in
            let (device, check) = try remains.boot()!
            let top = try device.backingPath(of: id("com.example.Notes"), .data) + "/Documents"
            return try histories.flatMap { path, history in
                try SimulatedHost.problems("\(top)/\(path)", path, history, device, check, passed)
            }
        }
        try host.requireComplete(scratch.path)
        return host
    }

    private static func problems(
        _ place: String, _ path: String, _ history: FileHistory, _ device: BootedDevice, _ check: DeviceCheck,
        _ passed: Int
    ) throws -> [String] {
        let isReported = check.problems.contains { $0.path == "Documents/\(path)" }
        guard let backing = try? Descriptor.open(path: place, flags: O_RDONLY) else {
            return try history.problems(path, at: passed, length: nil, isReported: isReported) { _ in nil }
        }
        let file: EncryptedFile
        do throws(Fault) {
            file = try EncryptedFile.open(SharedDescriptor(backing), isWritable: false, context: device.context)
        } catch {
            return ["\(path) cannot be opened: \(error)"]
        }
        return try history.problems(
            path, at: passed, length: Int(file.length), isReported: isReported, file.bytes)
    }

    static let chances: [(String, @Sendable () throws -> SimulatedHost)] = (1...rounds(2, full: 3)).map { seed in
        (
            "changes by chance \(seed)",
            {
                try record("changes by chance \(seed)") { _, _, files in
                    var generator = SeededGenerator(seed: UInt64(seed))
                    try files.create("a")
                    for _ in 0..<12 { try files.changeByChance("a", &generator) }
                    files.close("a")
                }
            }
        )
    }

    static let files: [(String, @Sendable () throws -> SimulatedHost)] = [
        (
            "overwrites",
            {
                try record("overwrites") { _, _, files in
                    try files.create("a")
                    try files.write("a", at: 0, count: 20_000)
                    try files.synchronize("a")
                    try files.write("a", at: 5000, count: 9000)
                    try files.append("a", count: 6000)
                    try files.synchronize("a", dataOnly: true)
                    try files.write("a", at: 100, count: 50)
                    try files.truncate("a", to: 7000)
                    try files.synchronize("a", dataOnly: true)
                    try files.append("a", count: 10_000)
                    files.close("a")
                    try files.openAgain("a")
                    try files.synchronize("a")
                    try files.punch("a", 4096..<12_288)
                    files.close("a")
                }
            }
        ),
        (
            "holes",
            {
                try record("holes") { _, _, files in
                    try files.create("a")
                    try files.write("a", at: 0, count: 5000)
                    try files.write("a", at: 600_000, count: 5000)
                    try files.synchronize("a", dataOnly: true)
                    files.close("a")
                    try files.openAgain("a")
                    try files.synchronize("a")
                    try files.write("a", at: 1_200_000, count: 5000)
                    files.close("a")
                    try files.openAgain("a")
                    try files.truncate("a", to: 300_000)
                    try files.synchronize("a")
                    try files.write("a", at: 270_000, count: 100)
                    files.close("a")
                }
            }
        ),
        (
            "names",
            {
                try record("names") { _, _, files in
                    try files.makeDirectory("d")
                    try files.makeDirectory("d/e")
                    try files.create("d/e/a")
                    try files.write("d/e/a", at: 0, count: 5000)
                    try files.synchronize("d/e/a")
                    try files.rename("d/e/a", to: "b")
                    try files.synchronize("b")
                    files.promise("d/e/a")
                    try files.create("new")
                    try files.write("new", at: 0, count: 3000)
                    try files.synchronize("new", dataOnly: true)
                    try files.rename("new", to: "b")
                    try files.synchronizeDirectory("")
                    files.promise("b")
                    files.promise("new")
                    try files.link("b", to: "d/c")
                    try files.synchronizeDirectory("d")
                    files.promise("d/c")
                    try files.makeDirectory("closed", mode: 0o300)
                    try files.create("closed/f")
                    try files.synchronize("closed/f")
                }
            }
        ),
        (
            "a killed process",
            {
                try record("a killed process") { device, scratch, files in
                    try files.create("a")
                    try files.write("a", at: 0, count: 9000)
                    try files.create("b")
                    device.release()
                    let next = try scratch.boot()
                    files.promiseAll()
                    next.release()
                }
            }
        ),
        (
            "a shutdown",
            {
                try record("a shutdown") { device, _, files in
                    try files.create("a")
                    try files.write("a", at: 0, count: 9000)
                    files.close("a")
                    try device.shutDown()
                    files.promiseAll()
                }
            }
        ),
    ]
}
