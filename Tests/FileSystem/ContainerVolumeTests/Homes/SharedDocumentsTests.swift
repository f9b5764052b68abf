// A home that shows only Documents, as file sharing does.

import BackingStore
import ContainerVolume
import Glibc
import Platform
import SandboxModel
import Testing

@Suite("A home of which Documents is all that is shown")
struct SharedDocumentsTests {
    private func sharing(_ home: Home) -> Home {
        Home(
            app: home.app, bundleName: home.bundleName, bundle: home.bundle, data: home.data, groups: home.groups,
            iCloud: home.iCloud, owner: home.owner, group: home.group, isPrivate: true, showsOnlyDocuments: true)
    }

    private func names(in volume: Volume) throws -> [String] {
        var names: [String] = []
        try volume.list(.root, from: 0, withEntries: false) { entry in
            names.append(String(decoding: entry.terminatedName.dropLast(), as: UTF8.self))
            return true
        }
        return names
    }

    @Test("Nothing else is listed, found or counted")
    func documentsOnly() throws {
        let home = try TestHome()
        let volume = home.volume
        let everything = try names(in: volume)
        #expect(everything.count == 2 + 7)
        volume.show(sharing(home.home))
        #expect(try names(in: volume) == [".", "..", "Documents"])
        #expect(try volume.status(of: .root, handle: nil).linkCount == 2 + 1)
        for name in everything where ![".", "..", "Documents"].contains(name) {
            #expect(throws: Fault.errno(ENOENT)) { try volume.lookup(FileName(name.utf8)!, in: .root) }
        }
        let documents = try volume.node("Documents")
        _ = try volume.make("note", in: documents)
        #expect(throws: Fault.refused(.inboxName)) { try volume.makeDirectory("Inbox", in: documents) }
        #expect(throws: Fault.refused(.topLevel)) { try volume.makeDirectory("Library", in: .root) }
        volume.show(home.home)
        #expect(try names(in: volume) == everything)
    }
}
