// The table of open files: handles and writers are counted, and a file's content is one for all of its handles.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("The table of open files")
struct OpenFileTableTests {
    private let parts: VolumeParts
    private let node: Node
    private var openFiles: OpenFileTable { parts.openFiles }

    init() throws {
        parts = try VolumeParts()
        node = try parts.file("Documents/file")
    }

    private func file(_ content: OpenFile.Content) throws -> EncryptedFile {
        guard case .encrypted(let file) = content else { throw Fault.corrupt }
        return file
    }

    @Test("Every handle has the same content, and the last close drops it")
    func handles() throws {
        let first = try file(openFiles.open(node, writing: false))
        let second = try file(openFiles.open(node, writing: true))
        #expect(first === second)
        #expect(node.open?.handles == 2 && node.open?.writers == 1)
        #expect(openFiles.hasWriters(node))
        #expect(openFiles.openInodes == [node.inode])
        #expect(openFiles.openFile(inode: node.inode) === first)
        openFiles.close(node, writing: true)
        #expect(!openFiles.hasWriters(node) && node.open != nil)
        openFiles.close(node, writing: false)
        #expect(node.open == nil && openFiles.openInodes.isEmpty && openFiles.openFile(inode: node.inode) == nil)
        // One close too many does no harm.
        openFiles.close(node, writing: true)
    }

    @Test("The writer that opened last is remembered, and one that cannot be seen is none")
    func lastWriter() throws {
        _ = try openFiles.open(node, writing: true, by: 10)
        _ = try openFiles.open(node, writing: false, by: 11)
        _ = try openFiles.open(node, writing: true)
        #expect(node.open?.lastWriter?.thread == 10)
        _ = try openFiles.open(node, writing: true, by: 12)
        #expect(node.open?.lastWriter?.thread == 12)
        for writing in [true, false, true, true] { openFiles.close(node, writing: writing) }
    }

    @Test("A file of an earlier epoch is looked up again by its name, and is an error to an old descriptor")
    func past() throws {
        let handle = FileHandle(node: node, content: try openFiles.open(node, writing: true), canWrite: true)
        try openFiles.requireContent(handle, for: .write)
        #expect(openFiles.refusalOfWriting(to: node.id) == nil)
        parts.places.epochs.beginRestart()
        #expect(openFiles.refusalOfWriting(to: node.id) == .errno(EIO))
        parts.places.epochs.advance(to: parts.table.beginEpoch())
        #expect(throws: Fault.errno(ESTALE)) { _ = try openFiles.open(node, writing: false) }
        parts.places.epochs.admitWrites()
        parts.places.epochs.endForgetting()
        #expect(throws: Fault.errno(EIO)) { _ = try openFiles.open(node, writing: false) }
        #expect(throws: Fault.errno(EIO)) { try openFiles.requireContent(handle, for: .write) }
        #expect(openFiles.openFile(inode: node.inode) == nil)
        openFiles.close(node, writing: true)
    }

    @Test("A node is reached by its open file, and by the name of one that is closed")
    func inodePlace() throws {
        guard case .entry(_, "file") = try openFiles.inodePlace(of: node) else {
            return #expect(Bool(false), "not by its name")
        }
        _ = try openFiles.open(node, writing: false)
        guard case .descriptor = try openFiles.inodePlace(of: node) else {
            return #expect(Bool(false), "not by the open file")
        }
        openFiles.close(node, writing: false)
    }

    @Test("A removed file is reported open as long as a handle is left")
    func removed() throws {
        _ = try openFiles.open(node, writing: false)
        #expect(openFiles.recordRemoval(of: node))
        openFiles.close(node, writing: false)
        #expect(!openFiles.recordRemoval(of: node))
        #expect(node.isNameless)
    }

    @Test("A lock's list has no file of a class that stays open, and the list of open files has it")
    func lists() throws {
        _ = try openFiles.open(node, writing: true)
        #expect(openFiles.filesToLock.isEmpty)
        #expect(openFiles.openFiles.map(\.node) == [node.id])
        #expect(openFiles.openFiles.allSatisfy { $0.mayBeWritten })
        openFiles.close(node, writing: true)
        #expect(openFiles.openFiles.isEmpty)
    }
}
