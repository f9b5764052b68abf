// Library/Caches of a group: the system's, out of backups, and purged in every home that shows it.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite("The caches of a group")
struct GroupCachesTests {
    private let mark = Array(BackupMark.attributeName.utf8)

    private func inclusion(_ node: NodeID, _ volume: Volume) throws -> String {
        String(decoding: try volume.attribute(Array(BackupInclusion.attributeName.utf8), of: node), as: UTF8.self)
    }

    // S-GROUP-10
    @Test func `Library and Library/Caches of a group stay, and the rest of it is the apps'`() throws {
        let volume = try TestHome().volume
        let group = try volume.node("Groups/\(TestHome.group)")
        let library = try volume.makeDirectory("Library", in: group).node
        // Nothing but a new directory gets the name.
        #expect(throws: Fault.refused(.standardDirectory)) { try volume.make("Caches", in: library, "x") }
        #expect(throws: Fault.refused(.standardDirectory)) {
            try volume.makeSymbolicLink("Caches", in: library, target: Array("/tmp".utf8), caller: TestHome.caller)
        }
        let other = try volume.makeDirectory("other", in: group).node
        #expect(throws: Fault.refused(.standardDirectory)) {
            try volume.rename("other", in: group, to: "Caches", in: library, mode: .replacing)
        }
        _ = try volume.makeDirectory("Caches", in: library)
        for (name, parent) in [("Library", group), ("Caches", library)] as [(FileName, NodeID)] {
            #expect(throws: Fault.refused(.standardDirectory)) { try volume.removeDirectory(name, in: parent) }
            #expect(throws: Fault.refused(.standardDirectory)) {
                try volume.rename(name, in: parent, to: "moved", in: other, mode: .replacing)
            }
        }
        for name in ["Preferences", "Caches2"] as [FileName] {
            _ = try volume.makeDirectory(name, in: library)
            try volume.removeDirectory(name, in: library)
        }
        // One directory further down, and in iCloud, the names are like any others.
        for parent in [other, try volume.node("iCloud/\(TestHome.iCloud)")] {
            let inner = try volume.makeDirectory("Library", in: parent).node
            _ = try volume.makeDirectory("Caches", in: inner)
            try volume.removeDirectory("Caches", in: inner)
        }
    }

    // S-BACKUP-5
    @Test func `it is excluded in every form, and cannot be included`() throws {
        let volume = try TestHome().volume
        let library = try volume.makeDirectory("Library", in: try volume.node("Groups/\(TestHome.group)")).node
        let caches = try volume.makeDirectory("Caches", in: library).node
        let file = try volume.make("file", in: caches, "x")
        #expect(try inclusion(library, volume) == "included")
        #expect(try inclusion(caches, volume) == "excluded")
        #expect(try inclusion(file, volume) == "excluded-by:Groups/\(TestHome.group)/Library/Caches")
        #expect(try volume.attribute(mark, of: caches) == BackupMark.canonicalValue)
        #expect(throws: Fault.refused(.neverInBackup)) { try volume.removeAttribute(mark, of: caches) }
        #expect(try !volume.attributeNames(of: caches).contains(mark))
    }

    // S-PURGE-10
    @Test func `entries leave every home that shows the group, and uses are kept with them`() throws {
        let homes = try SharedHomes()
        let volume = homes.volume
        let library = try volume.makeDirectory("Library", in: try volume.node(homes.group(0))).node
        let caches = try volume.makeDirectory("Caches", in: library).node
        try volume.make("file", in: caches, "x")
        try volume.make("inner", in: try volume.makeDirectory("unit", in: caches).node, "y")
        // Both homes know both.
        let seen = try [0, 1].map { home in
            try (
                caches: volume.node("\(homes.group(home))/Library/Caches"),
                inner: volume.node("\(homes.group(home))/Library/Caches/unit/inner"),
                file: volume.node("\(homes.group(home))/Library/Caches/file")
            )
        }
        #expect(seen[0].caches != seen[1].caches && seen[0].file == seen[1].file)
        homes.homes[0].context.uses.writeDown()
        let group = try Descriptor.open(path: homes.host, flags: O_RDONLY | O_DIRECTORY)
        let entries = try homes.homes[0].context.purgeableEntries(
            of: group, in: PurgeableDirectory.ofGroup, open: volume.openInodes)
        #expect(entries.map(\.name.text).sorted() == ["file", "unit"])
        #expect(try shell("getfattr -d --only-values '\(homes.host)/Library/Caches/unit'") != "")
        let trash = try Trash(
            in: try Descriptor.open(path: homes.homes[0].directory, flags: O_RDONLY | O_DIRECTORY),
            space: homes.homes[0].context.space)
        let place = try Descriptor.open(path: "\(homes.host)/Library/Caches", flags: O_RDONLY | O_DIRECTORY)
        for withdrawal in volume.withdraw(entries, from: place, into: trash) {
            guard case .taken(let item) = withdrawal else {
                Issue.record("\(withdrawal)")
                continue
            }
            _ = trash.remove(item, SharedLinkTally(), isShared: false)
        }
        for home in seen {
            for name in ["file", "unit"] as [FileName] {
                #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(name, in: home.caches) }
                let told = homes.kernel.expired.withLock {
                    $0.contains(SharedHomes.Told.Name(name: name, parent: home.caches))
                }
                #expect(told)
            }
            #expect(throws: Fault.errno(ESTALE)) { try volume.open(home.inner, flags: O_RDONLY) }
            #expect(try volume.names(in: home.caches).isEmpty)
        }
        try volume.make("file", in: seen[1].caches, "new")
        #expect(try volume.text("\(homes.group(0))/Library/Caches/file") == "new")
    }
}
