// Changes of a protection class: of files, and of what a directory gives.

import BackingStore
import CHostFaults
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("A file's change to another class", .serialized)
struct ClassChangeTests {
    private static let pairs = ProtectionClass.allCases.flatMap { old in
        ProtectionClass.allCases.map { (old, $0) }
    }

    private func path(_ home: TestHome, _ name: String) -> String { "\(home.directory)/data/Documents/\(name)" }

    private func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }

    @Test("From every class to every other, of a closed file: nothing but the header changes", arguments: pairs)
    func closed(old: ProtectionClass, new: ProtectionClass) throws {
        let home = try TestHome()
        let volume = home.volume
        let bytes = content(700_000)
        let node = try volume.make("file", in: try volume.node("Documents"), String(decoding: [65], as: UTF8.self))
        let handle = try volume.open(node, flags: O_WRONLY)
        try volume.write(handle, bytes, at: 0)
        volume.close(handle)
        try volume.protect(node, old)
        let before = try Data(contentsOf: URL(filePath: path(home, "file")))
        try volume.protect(node, new)
        let after = try Data(contentsOf: URL(filePath: path(home, "file")))
        #expect(after.dropFirst(4096) == before.dropFirst(4096))
        #expect((after == before) == (old == new))
        #expect(after[54] == new.rawValue)
        #expect(after[80] == (new == .completeUnlessOpen ? 72 : 40))
        #expect(try volume.bytes(of: node) == bytes)
        try home.restart()
        #expect(try home.volume.bytes(of: home.volume.node("Documents/file")) == bytes)
    }

    @Test("Time, mode and length stay", arguments: [0o644, 0o444, 0o000] as [mode_t])
    func attributes(mode: mode_t) throws {
        let home = try TestHome()
        let volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"), "text")
        var change = FileStatusChange()
        change.mode = mode
        change.modificationTime = .at(timespec(tv_sec: 1_000_000_000, tv_nsec: 123_456_789))
        _ = try volume.changeStatus(change, of: node, handle: nil)
        try volume.protect(node, .complete)
        try home.restart()
        let status = try home.volume.status(of: home.volume.node("Documents/file"), handle: nil)
        #expect(status.permissions == mode)
        #expect(status.modificationTime.tv_sec == 1_000_000_000)
        #expect(status.modificationTime.tv_nsec == 123_456_789)
        #expect(status.size == 4)
        #expect(try home.volume.protection(of: home.volume.node("Documents/file")) == .complete)
    }

    @Test("An open file whose class changes goes on for its readers and writers")
    func open() throws {
        let home = try TestHome()
        var volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"))
        let reader = try volume.open(node, flags: O_RDONLY)
        try volume.protect(node, .complete)
        let writer = try volume.open(node, flags: O_WRONLY)
        var bytes = content(900_000)
        for (index, protection) in ProtectionClass.allCases.enumerated() {
            try volume.write(writer, Array(bytes[index * 200_000..<(index + 1) * 200_000]), at: index * 200_000)
            try volume.protect(node, protection)
            #expect(try volume.protection(of: node) == protection)
        }
        // Sparse, and cut.
        try volume.write(writer, [7], at: 3_000_000)
        try volume.protect(node, .completeUnlessOpen)
        bytes = Array(bytes[..<800_000]) + [UInt8](repeating: 0, count: 2_200_000) + [7]
        #expect(try all(reader, volume) == bytes)
        volume.close(writer)
        volume.close(reader)
        try home.restart()
        volume = home.volume
        let again = try volume.node("Documents/file")
        #expect(try volume.protection(of: again) == .completeUnlessOpen)
        let handle = try volume.open(again, flags: O_RDONLY)
        #expect(try all(handle, volume) == bytes)
        volume.close(handle)
    }

    /// One read gives a megabyte.
    private func all(_ handle: Handle, _ volume: Volume) throws -> [UInt8] {
        try (0..<4).flatMap { try volume.bytes(handle, from: $0 << 20) }
    }

    @Test("Killed with the file open and its class changed, what was written is found")
    func killedLater() throws {
        let home = try TestHome()
        let volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"))
        let writer = try volume.open(node, flags: O_WRONLY)
        let bytes = content(600_000)
        try volume.write(writer, bytes, at: 0)
        try volume.protect(node, .complete)
        try home.restart(killed: true)
        let found = try home.volume.node("Documents/file")
        // The first to open it finds another length than stat had told.
        _ = try? home.volume.bytes(of: found)
        #expect(try home.volume.bytes(of: home.volume.node("Documents/file")) == bytes)
        #expect(try home.volume.protection(of: home.volume.node("Documents/file")) == .complete)
    }

    @Test("A file that was removed while open, and one with two names")
    func names() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let (entry, handle) = try volume.create("file", in: documents)
        try volume.write(handle, [1, 2, 3], at: 0)
        try volume.removeFile("file", in: documents)
        try volume.protect(entry.node, .complete)
        #expect(try volume.protection(of: entry.node) == .complete)
        #expect(try volume.bytes(handle) == [1, 2, 3])
        volume.close(handle)
        let other = try volume.make("other", in: documents)
        let second = try volume.link(other, to: "second", in: try volume.node("tmp")).node
        try volume.protect(second, .none)
        #expect(try volume.protection(of: other) == ProtectionClass.none)
    }

    @Test("While locked, a change that needs a missing key is refused", arguments: pairs)
    func locked(old: ProtectionClass, new: ProtectionClass) throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let closed = try volume.make("closed", in: documents, "text")
        let (entry, handle) = try volume.create("open", in: documents)
        let directory = try volume.makeDirectory("directory", in: documents).node
        for node in [closed, entry.node, directory] { try volume.protect(node, old) }
        home.lock()
        let isAllowed = old == new || !isClosed(old) && (!isClosed(new) || new == .completeUnlessOpen)
        for node in [closed, entry.node] {
            if isAllowed {
                try volume.protect(node, new)
            } else {
                #expect(throws: Fault.refused(.dataProtection)) { try volume.protect(node, new) }
            }
            #expect(try volume.protection(of: node) == (isAllowed ? new : old))
        }
        // A directory's at any time.
        try volume.protect(directory, new)
        #expect(try volume.protection(of: directory) == new)
        volume.close(handle)
    }

    private func isClosed(_ protection: ProtectionClass) -> Bool {
        protection == .complete || protection == .completeUnlessOpen
    }

    @Test("A file of a class that is closed is not made, and leaves no name")
    func creation() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        var directories: [(ProtectionClass, NodeID)] = []
        for protection in ProtectionClass.allCases {
            let node = try volume.makeDirectory(FileName(protection.shortName)!, in: documents).node
            try volume.protect(node, protection)
            try volume.make("there", in: node)
            directories.append((protection, node))
        }
        func tryAll(_ allowed: Set<ProtectionClass>) throws {
            for (protection, node) in directories {
                if allowed.contains(protection) {
                    try volume.make("new", in: node, "text")
                    try volume.removeFile("new", in: node)
                } else {
                    #expect(throws: Fault.refused(.dataProtection)) { try volume.create("new", in: node) }
                    #expect(throws: Fault.refused(.dataProtection)) {
                        try volume.makeNode("new", in: node, mode: S_IFREG | 0o600, caller: TestHome.caller)
                    }
                }
                #expect(try volume.names(in: node) == ["there"])
                // EEXIST comes before the refusal.
                #expect(throws: Fault.errno(EEXIST)) { try volume.create("there", in: node) }
                // A directory holds no content: it can be made in every state.
                let inner = try volume.makeDirectory("inner", in: node).node
                #expect(try volume.protection(of: inner) == protection)
                try volume.removeDirectory("inner", in: node)
            }
        }
        home.lock()
        try tryAll([.completeUnlessOpen, .completeUntilFirstUserAuthentication, .none])
        home.boot()
        try tryAll([.completeUnlessOpen, .none])
    }

    @Test("A full host leaves the old class")
    func full() throws {
        let home = try TestHome()
        let volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"), "text")
        for isOpen in [false, true] {
            let handle = isOpen ? try volume.open(node, flags: O_RDWR) : nil
            faults_arm(faults_fail, 1, ENOSPC)
            #expect(throws: Fault.errno(ENOSPC)) { try volume.protect(node, .complete) }
            faults_disarm()
            #expect(try volume.protection(of: node) == .standard)
            if let handle {
                try volume.write(handle, Array("more".utf8), at: 0)
                volume.close(handle)
            }
        }
        try home.restart()
        #expect(try home.volume.text("Documents/file") == "more")
        #expect(try home.volume.protection(of: home.volume.node("Documents/file")) == .standard)
    }

    @Test("A kill leaves the old class or the new", arguments: 1...3)
    func killed(at change: Int) throws {
        let home = try TestHome()
        let volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"), "text")
        faults_arm(faults_crash, change, 0)
        try? volume.protect(node, .completeUnlessOpen)
        faults_disarm()
        try home.restart(killed: true)
        #expect(try home.volume.text("Documents/file") == "text")
        let found = try home.volume.protection(of: home.volume.node("Documents/file"))
        #expect(found == .standard || found == .completeUnlessOpen)
    }

    @Test("Many at once, with writers: one file, one class")
    func threads() async throws {
        let volume = try TestHome().volume
        let node = try volume.make("file", in: try volume.node("Documents"))
        await withTaskGroup(of: Void.self) { group in
            for protection in ProtectionClass.allCases {
                group.addTask {
                    for round in 0..<50 {
                        try? volume.protect(node, protection)
                        guard let handle = try? volume.open(node, flags: O_RDWR) else { continue }
                        try? volume.write(handle, [UInt8(round)], at: Int(protection.rawValue) * 100_000)
                        volume.close(handle)
                    }
                }
            }
        }
        let bytes = try volume.bytes(of: node)
        for protection in ProtectionClass.allCases { #expect(bytes[Int(protection.rawValue) * 100_000] == 49) }
    }

    @Test("A gigabyte's class changes in less than a millisecond, apart from the host")
    func large() throws {
        let home = try TestHome()
        let volume = home.volume
        let node = try volume.make("file", in: try volume.node("Documents"))
        let handle = try volume.open(node, flags: O_RDWR)
        try volume.write(handle, [1], at: 1 << 30)
        var best = Duration.seconds(1)
        for round in 0..<10 {
            let took = try ContinuousClock().measure { try volume.protect(node, round % 2 == 0 ? .complete : .none) }
            best = min(best, took)
        }
        volume.close(handle)
        #expect(best < .milliseconds(1), "\(best)")
    }
}
