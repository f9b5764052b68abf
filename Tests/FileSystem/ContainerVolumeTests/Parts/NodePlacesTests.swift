// From nodes to places on the host.

import Foundation
import Platform
import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("The place of a node on the host")
struct NodePlacesTests {
    private let parts: VolumeParts
    private var places: NodePlaces { parts.places }

    init() throws { parts = try VolumeParts() }

    @Test("A home is reached by its container, a file by its directory and name")
    func kinds() throws {
        guard case .descriptor(let anchor) = try places.place(of: parts.table.root) else {
            return #expect(Bool(false), "no descriptor")
        }
        #expect(anchor === parts.home.data)
        let file = try parts.file("Documents/file")
        guard case .entry(let directory, let name) = try places.place(of: file) else {
            return #expect(Bool(false), "no entry")
        }
        #expect(name == "file")
        #expect(try directory.descriptor.status().inode == file.parent?.inode)
        #expect(places.hasEntry("file", in: file.parent!) && !places.hasEntry("other", in: file.parent!))
    }

    @Test("A node without a name is reached by its descriptor; without one, a file is stale and a directory is gone")
    func nameless() throws {
        let file = try parts.file("Documents/file")
        let directory = try parts.node("Library/Caches")
        let descriptor = SharedDescriptor(try places.directory(file.parent!).descriptor.openNode("file"))
        parts.table.removeName("file", in: file.parent!, of: file)
        parts.table.removeName("Caches", in: directory.parent!, of: directory)
        #expect(throws: Fault.errno(ESTALE)) { _ = try places.place(of: file) }
        #expect(throws: Fault.errno(ENOENT)) { _ = try places.place(of: directory) }
        file.withRare { $0.orphan = descriptor }
        guard case .descriptor(let orphan) = try places.place(of: file) else {
            return #expect(Bool(false), "no descriptor")
        }
        #expect(orphan === descriptor)
    }

    @Test("Two threads that find one name refused go to the next, and not beyond it")
    func refusedName() throws {
        let file = try parts.file("Documents/file")
        let documents = try #require(file.parent)
        parts.table.addName("link", in: try parts.node("tmp"), to: file)
        for _ in 0..<2 { parts.table.preferNextName(of: file, to: (documents, "file")) }
        #expect(parts.table.location(of: file)?.name == "link")
    }

    @Test("A file of an earlier epoch is stale, whatever has its name")
    func past() throws {
        let file = try parts.file("Documents/file")
        places.epochs.advance(to: parts.table.beginEpoch())
        #expect(throws: Fault.errno(ESTALE)) { _ = try places.place(of: file) }
        #expect(try parts.node("Documents/file") !== file)
    }

    @Test("Nothing is found in a directory that was removed")
    func removed() throws {
        let directory = try parts.node("Documents")
        _ = try places.directory(directory)
        directory.withRare { $0.isRemoved = true }
        #expect(throws: Fault.errno(ENOENT)) { _ = try places.directory(directory) }
    }
}
