// Secret names at the root, by which the daemon reaches nodes of its own mount.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("The names by which the daemon itself reaches nodes")
struct NodeAliasTests {
    private let home = ProtectedHome()
    private var volume: Volume { home.volume }

    @Test("They lead to nodes while they are open, each time by other names, and at the root only")
    func open() throws {
        let directory = try home.directory(.standard)
        let node = try home.file("file", .standard)
        let closed = volume.alias(of: node)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(closed, in: .root) }
        volume.openAliases()
        let name = volume.alias(of: node)
        #expect(name != closed && name != volume.alias(of: directory))
        let entry = try volume.lookup(name, in: .root)
        #expect(entry.node == node && entry.status.size == 7)
        #expect(!entry.keepsName && !entry.mayCacheStatus)
        #expect(try volume.lookup(volume.alias(of: directory), in: .root).node == directory)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(name, in: directory) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(closed, in: .root) }
        #expect(try !volume.names(in: .root).contains(name.text))
        volume.closeAliases()
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(name, in: .root) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(volume.alias(of: node), in: .root) }
        volume.openAliases()
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(name, in: .root) }
        #expect(volume.alias(of: node) != name)
    }

    @Test("They count one lookup, and none where they fail")
    func lookups() throws {
        _ = try home.directory(.standard)
        let before = volume.knownNodes
        let node = try home.file("file", .standard)
        volume.openAliases()
        let name = volume.alias(of: node)
        #expect(try volume.lookup(name, in: .root).node == node)
        volume.forget(node, count: 1)
        #expect(volume.knownNodes == before + 1)
        volume.forget(node, count: 1)
        #expect(volume.knownNodes == before)
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(name, in: .root) }

        // Its file gone behind the volume's back, it has no status.
        let lost = try home.file("lost", .standard)
        try FileManager.default.removeItem(
            atPath: "\(home.home.directory)/data/Documents/\(ProtectedHome.name(.standard))/lost")
        #expect(throws: Fault.self) { try volume.lookup(volume.alias(of: lost), in: .root) }
        volume.forget(lost, count: 1)
        #expect(volume.knownNodes == before)
    }

    @Test("They reach a file that was removed and is open, and one that a restart left behind")
    func nameless() throws {
        let directory = try home.directory(.standard)
        let removed = try home.file("removed", .standard)
        let left = try home.file("left", .standard)
        let handles = try [removed, left].map { try volume.open($0, flags: O_RDWR) }
        try volume.removeFile("removed", in: directory)
        volume.beginRestart()
        volume.leaveFilesBehind { home.home.context.openFiles.retireAll(admittingComplete: true) }
        volume.endRestart()
        volume.openAliases()
        for node in [removed, left] {
            #expect(try volume.lookup(volume.alias(of: node), in: .root).node == node)
            // The call that waits for a write is refused; it changes nothing.
            #expect(throws: Fault.self) {
                try volume.setAttribute(Array("user.appcontainer.barrier".utf8), to: [], flags: 0, of: node)
            }
        }
        for handle in handles { volume.close(handle) }
    }

    @Test("A name that is not one leads nowhere")
    func wrong() throws {
        let node = try home.file("file", .standard)
        volume.openAliases()
        let name = volume.alias(of: node).text
        let prefix = name.prefix(34)
        for wrong in [prefix + "", prefix + "ffffffffffffffffff", prefix + "zz", prefix + "7fffffff", "." + name] {
            #expect(throws: Fault.errno(ENOENT), "\(wrong)") { try volume.lookup(FileName(String(wrong))!, in: .root) }
        }
    }
}
