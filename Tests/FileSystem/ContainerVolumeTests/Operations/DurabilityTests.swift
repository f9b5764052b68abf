// fsync: a file, and the names that lead to it.

import CHostFaults
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("Durability by fsync")
struct DurabilityTests {
    private let home: TestHome
    private let volume: Volume
    private let documents: NodeID

    init() throws {
        home = try TestHome()
        volume = home.volume
        documents = try volume.node("Documents")
        faults_forget_synchronized()
    }

    private func isDurable(_ path: String) throws -> Bool {
        let status = try HostPath.status("\(home.directory)/data/\(path)")
        return faults_synchronized(UInt(status.inode)) == 1
    }

    /// Opens a file, synchronizes it and closes it.
    private func synchronize(_ path: String) throws {
        let handle = try volume.open(try volume.node(path), flags: O_RDWR)
        defer { volume.close(handle) }
        try volume.synchronize(handle, dataOnly: true)
    }

    @Test("A new file's name, and those of the new directories above it")
    func newNames() throws {
        let outer = try volume.makeDirectory("outer", in: documents).node
        let inner = try volume.makeDirectory("inner", in: outer).node
        try volume.make("file", in: inner, "text")
        try synchronize("Documents/outer/inner/file")
        for path in ["Documents/outer/inner/file", "Documents/outer/inner", "Documents/outer", "Documents"] {
            #expect(try isDurable(path), "\(path)")
        }
    }

    @Test("Names once: what is durable already is not synchronized again")
    func onlyOnce() throws {
        try volume.make("file", in: documents, "text")
        try synchronize("Documents/file")
        faults_forget_synchronized()
        try synchronize("Documents/file")
        #expect(try isDurable("Documents/file"))
        #expect(try !isDurable("Documents"))
    }

    @Test("The name of a file that the kernel forgot before it was synchronized")
    func forgotten() throws {
        let node = try volume.make("file", in: documents, "text")
        volume.forget(node, count: 1)
        try synchronize("Documents/file")
        #expect(try isDurable("Documents"))
    }

    @Test("A new name of a file whose first name is durable")
    func furtherName() throws {
        let directory = try volume.makeDirectory("directory", in: documents).node
        let node = try volume.make("file", in: documents, "text")
        try synchronize("Documents/file")
        faults_forget_synchronized()
        _ = try volume.link(node, to: "link", in: directory)
        try synchronize("Documents/file")
        #expect(try isDurable("Documents/directory"))
    }

    @Test("The name after a rename, where the file lies now")
    func renamed() throws {
        let directory = try volume.makeDirectory("directory", in: documents).node
        try volume.make("file", in: documents, "text")
        try synchronize("Documents/file")
        faults_forget_synchronized()
        try volume.rename("file", in: documents, to: "file", in: directory, mode: .replacing)
        try synchronize("Documents/directory/file")
        #expect(try isDurable("Documents/directory"))
    }

    @Test("fsync of a directory reaches the host's directory, and what it is found by")
    func directory() throws {
        let outer = try volume.makeDirectory("outer", in: documents).node
        let inner = try volume.makeDirectory("inner", in: outer).node
        try volume.make("file", in: inner, "text")
        try volume.synchronizeDirectory(inner)
        for path in ["Documents/outer/inner", "Documents/outer", "Documents"] {
            #expect(try isDurable(path), "\(path)")
        }
    }
}
