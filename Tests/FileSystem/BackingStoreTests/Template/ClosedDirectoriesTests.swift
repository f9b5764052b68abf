// Modes that keep the user out who makes a tree, set at last.

import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct ClosedDirectoriesTests {
    let scratch = Scratch()

    private func mode(_ path: String) throws -> mode_t { try HostPath.status(scratch[path]).permissions & 0o777 }

    @Test func `each directory gets its mode, those within it first`() throws {
        try shell("cd '\(scratch.path)' && mkdir -p a/b/c a/d e/f g && chmod -R 700 .")
        var closed = ClosedDirectories()
        // As a walk leaves them.
        closed.add(["a", "b", "c"], mode: 0)
        closed.left(depth: 3)
        closed.add(["a", "b"], mode: 0o100)
        closed.left(depth: 2)
        closed.add(["a", "d"], mode: 0o500)
        closed.left(depth: 2)
        closed.left(depth: 1)
        closed.add(["e", "f"], mode: 0o600)
        closed.left(depth: 2)
        closed.add(["e"], mode: 0o300)
        closed.left(depth: 1)
        closed.left(depth: 1)
        try closed.setModes(TreeCursor(SharedDescriptor(try Descriptor.openDirectory(path: scratch.path))))
        #expect(try mode("g") == 0o700)
        #expect(try mode("e") == 0o300)
        #expect(try mode("a") == 0o700)
        #expect(try mode("a/d") == 0o500)
        #expect(try mode("a/b") == 0o100)
        try shell("chmod 700 '\(scratch["a/b"])' '\(scratch["e"])'")
        #expect(try mode("a/b/c") == 0)
        #expect(try mode("e/f") == 0o600)
        try shell("chmod -R 700 '\(scratch.path)'")
    }
}
