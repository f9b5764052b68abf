// Tests of Apple's data storage guidelines: the one that a file breaks, by its kind and its place.

import SandboxModel
import SandboxPolicy
import Testing

@Suite struct AuditRulesTests {
    private let app = ContainerIdentifier("com.example.Notes")!

    private func broken(
        _ path: String, _ sort: StoredSort, inclusion: BackupInclusion = .included, isDirectory: Bool = false,
        isData: Bool = true, isMarked: Bool = false, protection: ProtectionClass = .complete,
        isSortedByUser: Bool = false
    ) -> [AuditRule] {
        AuditRules.broken(
            by: AuditedItem(
                path: path.split(separator: "/").map { FileName(String($0))! }, isData: isData,
                isDirectory: isDirectory,
                sort: sort, isSortedByUser: isSortedByUser, inclusion: inclusion, isMarked: isMarked,
                protection: protection), of: app)
    }

    @Test func `recreatable files are not to be backed up, in any directory`() {
        #expect(broken("Documents/a.part", .recreatable) == [.recreatableBackedUp])
        #expect(broken("Library/Application Support/Cache", .recreatable, isDirectory: true) == [.recreatableBackedUp])
        #expect(broken("shared.tmp", .recreatable, isData: false) == [.recreatableBackedUp])
        #expect(broken("Documents/a.part", .recreatable, inclusion: .excluded) == [])
        #expect(broken("Library/Caches/a.part", .recreatable, inclusion: .excludedBy(["Library", "Caches"])) == [])
    }

    // S-AUDIT-2
    @Test func `an excluded file with the name of a document may be a download, and is advice`() {
        #expect(broken("Documents/a.pdf", .document, inclusion: .excluded) == [.documentExcluded])
        #expect(broken("Documents/a.pdf", .document, inclusion: .excludedBy(["Documents"])) == [.documentExcluded])
        #expect(!AuditRule.documentExcluded.isBreach)
    }

    @Test func `what a user calls a document is to be backed up`() {
        func own(_ inclusion: BackupInclusion) -> [AuditRule] {
            broken("Documents/a.pdf", .document, inclusion: inclusion, isSortedByUser: true)
        }
        #expect(own(.included) == [])
        #expect(own(.excluded) == [.documentNotBackedUp])
        #expect(own(.excludedBy(["Documents"])) == [.documentNotBackedUp])
        #expect(AuditRule.documentNotBackedUp.isBreach)
    }

    @Test func `a document is closed while the device is locked`() {
        #expect(broken("Documents/a.pdf", .document) == [])
        #expect(
            broken("Documents/a.pdf", .document, protection: .completeUntilFirstUserAuthentication)
                == [.documentReadableWhileLocked])
    }

    @Test func `a database may be excluded, and open while the device is locked`() {
        #expect(
            broken("Library/Application Support/a.sqlite", .database, inclusion: .excluded, protection: .none) == [])
    }

    @Test func `documents and databases do not lie where they are purged or dropped by an update`() {
        let (caches, temporary) = (
            BackupInclusion.excludedBy(["Library", "Caches"]), BackupInclusion.excludedBy(["tmp"])
        )
        #expect(broken("Library/Caches/a.sqlite", .database, inclusion: caches) == [.irreplaceablePurgeable])
        #expect(broken("Library/Caches/a/b.pdf", .document, inclusion: caches) == [.irreplaceablePurgeable])
        #expect(broken("tmp/a.sqlite", .database, inclusion: temporary) == [.irreplaceableLostByUpdate])
        // A group has caches, and its `tmp` is its apps' own.
        #expect(
            broken("Library/Caches/a.sqlite", .database, inclusion: caches, isData: false) == [.irreplaceablePurgeable])
        #expect(broken("tmp/a.sqlite", .database, isData: false) == [])
    }

    @Test func `a picture is a document in Documents, and nothing special elsewhere`() {
        #expect(broken("Documents/a.jpg", .media, inclusion: .excluded) == [.documentExcluded])
        #expect(broken("Library/Caches/a.jpg", .media, inclusion: .excludedBy(["Library", "Caches"])) == [])
        #expect(broken("Library/Application Support/a.jpg", .media, protection: .none) == [])
    }

    @Test func `a directory of Library that is excluded is named after the app`() {
        func name(_ path: String) -> [AuditRule] {
            broken(path, .ordinary, inclusion: .excluded, isDirectory: true, isMarked: true)
        }
        #expect(name("Library/Application Support/Tiles") == [.excludedDirectoryName])
        #expect(name("Library/Application Support/com.example.Notes") == [])
        #expect(name("Library/Application Support/com.example.Notes/Tiles") == [])
        #expect(name("Documents/Tiles") == [])
    }
}
