// Eight threads on one volume.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite("Eight threads on one volume")
struct ThreadTests {
    private static let directories: [FileName] = ["one", "two", "three"]

    /// Content that tells which file it belongs to, and how often it was written.
    private static func content(_ owner: Int, _ number: Int, version: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(owner * 1_000_003 + number * 101 + version))
        return generator.bytes([10, 4096, 5000, 70_000][(number + version) % 4])
    }

    /// The files that the threads have published: the place and version of each.
    private struct Known {
        var files: [String: (place: Int, name: FileName, owner: Int, number: Int, version: Int)] = [:]
    }

    @Test("count a node once that is forgotten by one while another removes its file")
    func forgottenAndRemoved() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let before = volume.knownNodes
        let isOver = Atomic(false)
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            Thread.detachNewThread {
                while !isOver.load(ordering: .relaxed) {
                    if let entry = try? volume.lookup("file", in: documents) { volume.forget(entry.node, count: 1) }
                }
                done.signal()
            }
        }
        for _ in 0..<3000 {
            volume.forget(try volume.make("file", in: documents), count: 1)
            try volume.removeFile("file", in: documents)
        }
        isOver.store(true, ordering: .relaxed)
        for _ in 0..<3 { done.wait() }
        #expect(volume.knownNodes == before)
    }

    @Test("end with a tree that agrees with what each did, and every file's content", arguments: [1, 2] as [UInt64])
    func sharedDirectories(seed: UInt64) throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let places = try ThreadTests.directories.map { name throws(Fault) in
            try volume.makeDirectory(name, in: documents).node
        }
        let known = Mutex(Known())
        let faults = Mutex<[String]>([])
        let done = DispatchSemaphore(value: 0)
        let threads = (0..<8).map { owner in
            Thread {
                do throws(Fault) {
                    try ThreadTests.work(volume, places, owner, seed: seed, known)
                } catch {
                    faults.withLock { $0.append("thread \(owner), seed \(seed): \(error)") }
                }
                done.signal()
            }
        }

        for thread in threads { thread.start() }
        for _ in threads { done.wait() }
        #expect(faults.withLock { $0 } == [])

        func verify(_ volume: Volume, _ places: [NodeID]) throws {
            let files = known.withLock { $0.files }
            for (index, place) in places.enumerated() {
                let expected = files.values.filter { $0.place == index }.map(\.name.text).sorted()
                #expect(try volume.names(in: place).sorted() == expected)
            }
            for file in files.values {
                let node = try volume.lookup(file.name, in: places[file.place]).node
                let content = ThreadTests.content(file.owner, file.number, version: file.version)
                let matches = try volume.bytes(of: node) == content
                #expect(matches, "\(file.name.text), seed \(seed)")
                #expect(try volume.status(of: node, handle: nil).size == content.count)
                volume.forget(node, count: 1)
            }
        }
        try verify(volume, places)
        for place in places { volume.forget(place, count: 1) }
        volume.forget(documents, count: 1)
        #expect(volume.knownNodes == 1)

        try home.restart()
        let again = try ThreadTests.directories.map { name throws(Fault) in
            try home.volume.node("Documents/\(name.text)")
        }
        try verify(home.volume, again)
    }

    private static func work(
        _ volume: Volume, _ places: [NodeID], _ owner: Int, seed: UInt64, _ known: borrowing Mutex<Known>
    ) throws(Fault) {
        var worker = Worker(
            volume: volume, places: places, owner: owner,
            generator: SeededGenerator(seed: seed &* 100 &+ UInt64(owner)))
        for step in 0..<250 {
            switch worker.files.isEmpty ? 0 : Int.random(in: 0..<10, using: &worker.generator) {
            case 0...2: try worker.create(known)
            case 3...4: try worker.rewrite(known)
            case 5...6: try worker.rename(step, known)
            case 7: try worker.remove(known)
            default: try worker.readAny(known)
            }
        }
    }

    /// One thread's calls, and the files that it made.
    private struct Worker {
        let volume: Volume
        let places: [NodeID]
        let owner: Int
        var generator: SeededGenerator
        var files: [(place: Int, name: FileName, number: Int, version: Int)] = []
        private var next = 0

        init(volume: Volume, places: [NodeID], owner: Int, generator: SeededGenerator) {
            self.volume = volume
            self.places = places
            self.owner = owner
            self.generator = generator
        }

        private func publish(
            _ file: (place: Int, name: FileName, number: Int, version: Int), _ known: borrowing Mutex<Known>
        ) {
            known.withLock {
                $0.files["\(owner)-\(file.number)"] = (file.place, file.name, owner, file.number, file.version)
            }
        }

        mutating func create(_ known: borrowing Mutex<Known>) throws(Fault) {
            let place = Int.random(in: 0..<places.count, using: &generator)
            let name = FileName("\(owner)-\(next)")!
            let (entry, handle) = try volume.create(name, in: places[place])
            try volume.write(handle, ThreadTests.content(owner, next, version: 0), at: 0)
            volume.close(handle)
            volume.forget(entry.node, count: 1)
            files.append((place, name, next, 0))
            publish(files.last!, known)
            next += 1
        }

        /// Writes a file anew, in parts, by one handle while others may read it.
        mutating func rewrite(_ known: borrowing Mutex<Known>) throws(Fault) {
            let index = Int.random(in: 0..<files.count, using: &generator)
            files[index].version += 1
            let file = files[index]
            let new = ThreadTests.content(owner, file.number, version: file.version)
            let node = try volume.lookup(file.name, in: places[file.place]).node
            let handle = try volume.open(node, flags: O_RDWR | O_TRUNC)
            let half = new.count / 2
            try volume.write(handle, Array(new[half...]), at: half)
            try volume.write(handle, Array(new[..<half]), at: 0)
            volume.close(handle)
            volume.forget(node, count: 1)
            publish(file, known)
        }

        mutating func rename(_ step: Int, _ known: borrowing Mutex<Known>) throws(Fault) {
            let index = Int.random(in: 0..<files.count, using: &generator)
            let file = files[index]
            let place = Int.random(in: 0..<places.count, using: &generator)
            let name = FileName("\(owner)-\(file.number)-\(step)")!
            try volume.rename(file.name, in: places[file.place], to: name, in: places[place], mode: .replacing)
            files[index].place = place
            files[index].name = name
            publish(files[index], known)
        }

        mutating func remove(_ known: borrowing Mutex<Known>) throws(Fault) {
            let file = files.remove(at: Int.random(in: 0..<files.count, using: &generator))
            let node = try volume.lookup(file.name, in: places[file.place]).node
            let handle = try volume.open(node, flags: O_RDONLY)
            try volume.removeFile(file.name, in: places[file.place])
            known.withLock { _ = $0.files.removeValue(forKey: "\(owner)-\(file.number)") }
            let read = try volume.bytes(handle)
            guard read == ThreadTests.content(owner, file.number, version: file.version) else { throw .corrupt }
            volume.close(handle)
            volume.forget(node, count: 1)
        }

        /// Reads files of any thread: a file may be gone or moved by now, or half written, but what is there can be
        /// read. The kernel lets nobody look a file up before its creation was answered.
        mutating func readAny(_ known: borrowing Mutex<Known>) throws(Fault) {
            let place = Int.random(in: 0..<places.count, using: &generator)
            let listed = Set(try volume.names(in: places[place]))
            let made = known.withLock { known in known.files.values.filter { listed.contains($0.name.text) } }
            for file in made.shuffled(using: &generator).prefix(3) {
                guard let entry = try? volume.lookup(file.name, in: places[place]) else { continue }
                _ = try volume.bytes(of: entry.node)
                volume.forget(entry.node, count: 1)
            }
        }
    }
}
