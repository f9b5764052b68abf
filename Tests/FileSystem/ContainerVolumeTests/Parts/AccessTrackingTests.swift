// Access tracking: the purgeable entry that a file lies in, by each of its names.

import BackingStore
import Platform
import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("The purgeable entry that a call uses")
struct AccessTrackingTests {
    private let parts: VolumeParts
    private let access: AccessTracking

    init() throws {
        parts = try VolumeParts()
        access = AccessTracking(table: parts.table, uses: parts.home.context.uses, names: parts.names)
    }

    private func directory(_ path: String) throws -> Node {
        let descriptor = try parts.places.directory(
            parts.node(String(path.split(separator: "/").dropLast().joined(separator: "/"))))
        try descriptor.descriptor.makeDirectory(FileName(String(path.split(separator: "/").last!))!, mode: 0o755)
        return try parts.node(path)
    }

    @Test("It is the entry of Library/Caches or tmp that the file is, or lies in")
    func units() throws {
        let entry = try directory("Library/Caches/entry")
        let below = try parts.file("Library/Caches/entry/below")
        let temporary = try parts.file("tmp/file")
        #expect(access.purgeableEntries(around: entry) == [entry.inode])
        #expect(access.purgeableEntries(around: below) == [entry.inode])
        #expect(access.purgeableEntries(around: temporary) == [temporary.inode])
        #expect(access.purgeableEntries(around: try parts.file("Documents/file")) == [])
        #expect(access.purgeableEntries(around: try parts.node("Library/Caches")) == [])
    }

    @Test("A file with two names may lie in two entries")
    func links() throws {
        let entry = try directory("Library/Caches/entry")
        let file = try parts.file("tmp/file")
        parts.table.addName("link", in: entry, to: file)
        #expect(Set(access.purgeableEntries(around: file)) == [file.inode, entry.inode])
    }
}

@Suite("The zone of an entry, and the names that its directory admits")
struct NodeRuleTests {
    @Test("Library/Caches and tmp are purgeable, and only in a home")
    func purgeable() throws {
        let parts = try VolumeParts()
        #expect(try parts.node("Library/Caches").purgeableDirectory == .caches)
        #expect(try parts.node("tmp").purgeableDirectory == .temporary)
        #expect(try parts.node("Library").purgeableDirectory == nil)
        #expect(try parts.node("Library/Preferences").purgeableDirectory == nil)
        #expect(try parts.node("Documents").purgeableDirectory == nil)
        #expect(try parts.node("tmp").home?.app == parts.home.home.app)
    }
}
