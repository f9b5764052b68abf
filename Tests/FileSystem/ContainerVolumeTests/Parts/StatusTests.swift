// The status that the mount shows, of each kind of node, and attributes of single nodes.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("The status that the mount shows")
struct PresentedStatusTests {
    private let home: Home
    private let fixture: TestHome

    init() throws {
        fixture = try TestHome()
        home = fixture.home
    }

    private func status(_ type: mode_t, _ mode: mode_t, size: Int = 0) -> FileStatus {
        var raw = stat()
        raw.st_mode = type | mode
        raw.st_uid = 7
        raw.st_size = size
        return FileStatus(raw)
    }

    @Test("A file of a container shows the length of its content, and the host's owner")
    func content() {
        let backing = Int(ContentLayout.backingLength(of: 5000))
        let shown = status(S_IFREG, 0o400, size: backing).presented(zone: .container, home: nil)
        #expect(shown.size == 5000 && shown.raw.st_uid == 7 && shown.permissions == 0o400)
    }

    @Test("Entries of the system belong to the container's user, who may write as far as the mode goes")
    func system() {
        for zone in [Zone.bundle, .inbox, .metadata, .containers] {
            let shown = status(S_IFDIR, 0o555).presented(zone: zone, home: home)
            #expect(shown.raw.st_uid == home.owner && shown.permissions == 0o755)
        }
        // Without a home, which is what a removed node has, all is as on the host.
        #expect(status(S_IFDIR, 0o555).presented(zone: .inbox, home: nil).permissions == 0o555)
    }

    @Test("A private home may be entered by its user only, and its links are the directories that it shows")
    func top() {
        let shown = status(S_IFDIR, 0o777).presented(zone: .home, home: home)
        #expect(shown.permissions == 0o700 && shown.linkCount == home.linkCount)
    }
}

@Suite("The status of a node")
struct StatusReaderTests {
    private let parts: VolumeParts
    private let statuses: StatusReader

    init() throws {
        parts = try VolumeParts()
        let homes = HomeRegistry(table: parts.table, names: parts.names, kernel: parts.kernel)
        statuses = StatusReader(openFiles: parts.openFiles, homes: homes, device: parts.home.data)
    }

    @Test("It is the open file's while one is open, and the named entry's otherwise")
    func file() throws {
        let node = try parts.file("Documents/file", "some text")
        #expect(try statuses.status(of: node).size == 9)
        guard case .encrypted(let file) = try parts.openFiles.open(node, writing: true) else { throw Fault.corrupt }
        try file.truncate(to: 3)
        #expect(try statuses.status(of: node).size == 3)
        parts.openFiles.close(node, writing: true)
        #expect(try statuses.status(of: node).size == 3)
    }

    @Test("Groups has a link for each container, and a tag has one until its directory is gone")
    func synthetic() throws {
        let root = parts.table.root
        let groups = parts.table.lookUp(
            FoundEntry(
                inode: SyntheticInode.containers(HomeLayout.groups, in: root.inode), kind: .containers,
                zone: .containers, parent: root, name: HomeLayout.groups))
        #expect(try statuses.status(of: groups).linkCount == 3)
        let tags = CacheTags(table: parts.table, credentials: parts.places.credentials)
        let caches = try parts.node("Library/Caches")
        let tag = try #require(parts.table.node(tags.entry(in: caches).node))
        #expect(try statuses.status(of: tag).linkCount == 1)
        #expect(try statuses.status(of: tag).size == CacheDirectoryTag.content.count)
        parts.table.removeName(CacheDirectoryTag.name, in: caches, of: tag)
        #expect(try statuses.status(of: tag).linkCount == 0)
    }
}

@Suite("Classes and marks of single nodes")
struct NodeAttributeTests {
    private let parts: VolumeParts

    init() throws { parts = try VolumeParts() }

    @Test("A file has its own class; a new entry has the class that its directory gives")
    func classes() throws {
        let classes = ProtectionClasses(openFiles: parts.openFiles)
        let file = try parts.file("Documents/file")
        let documents = try #require(file.parent)
        #expect(try classes.protection(of: file) == .standard)
        #expect(try !classes.listsProtection(of: file))
        try classes.changeClass(of: documents, to: .completeUnlessOpen)
        #expect(try classes.protection(in: documents) == .completeUnlessOpen)
        #expect(try classes.protection(of: file) == .standard)
        #expect(try classes.listsProtection(of: file))
        #expect(file.open == nil)
    }

    @Test("A mark is set and removed once, and excludes a node from backups")
    func marks() throws {
        let space = parts.home.context.space
        let marks = BackupMarks(accounting: SpaceAccounting(space: space, openFiles: parts.openFiles))
        let file = try parts.file("Documents/file")
        #expect(try !marks.isExcluded(file))
        for isExcluded in [true, true, false, false] {
            try marks.setExcluded(isExcluded, file, by: .setAttribute)
            #expect(try marks.isExcluded(file) == isExcluded)
        }
        let caches = try parts.node("Library/Caches")
        #expect(try marks.isExcluded(caches))
        #expect(throws: Fault.refused(.neverInBackup)) { try marks.setExcluded(false, caches, by: .setAttribute) }
    }

    private func areDurable(_ directory: Node) -> Bool { directory.givenNames.areDurable }

    @Test("Names are durable after an fsync, up to the container's root, until the next name is given")
    func durability() throws {
        let durability = NameDurability(places: parts.places, device: parts.home.data)
        let file = try parts.file("Documents/file")
        let documents = try #require(file.parent)
        #expect(!areDurable(documents))
        try durability.makeNamesDurable(of: file)
        #expect(areDurable(documents) && areDurable(parts.table.root))
        documents.givenNames.add()
        #expect(!areDurable(documents))
    }
}
