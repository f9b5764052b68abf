// The rules for backups: places and marks.

import SandboxModel
import SandboxPolicy
import Testing

@Suite("The content of a backup")
struct BackupPolicyTests {
    private func path(_ text: String) -> [FileName] { text.split(separator: "/").map { FileName(String($0))! } }

    /// The attribute's value for a path, with marks on others.
    private func inclusion(_ text: String, marked: Set<String> = []) -> String {
        let path = path(text)
        let never = SandboxPolicy.neverInBackup(path, bundle: "Notes.app")
        let inclusion = SandboxPolicy.inclusion(of: path, never: never) { marked.contains(path.prefix($0).text) }
        return String(decoding: inclusion.attributeValue, as: UTF8.self)
    }

    @Test("The places that a list names are those by which a path is judged")
    func places() {
        let places = SandboxPolicy.placesNeverInBackup(bundle: "Notes.app", groups: ["group.a"], hasICloud: true)
        for place in places {
            #expect(SandboxPolicy.neverInBackup(place, bundle: "Notes.app") == place.count)
        }
        #expect(
            Set(places.map(\.text)) == [
                "Notes.app", ".com.apple.mobile_container_manager.metadata.plist", "iCloud", "Library/Caches", "tmp",
                "Groups/group.a/Library/Caches",
            ])
        let fewer = SandboxPolicy.placesNeverInBackup(bundle: "Notes.app", groups: [], hasICloud: false)
        #expect(fewer.count == 4)
    }

    @Test(
        "The places that are never in one, and what lies beside them",
        arguments: [
            ("", "included"), ("Documents", "included"), ("Documents/a/b", "included"),
            ("Documents/Inbox/mail.txt", "included"), ("Library", "included"),
            ("Library/Preferences/a.plist", "included"),
            ("Library/Caches", "excluded"), ("Library/Caches/a/b", "excluded-by:Library/Caches"),
            ("Library/Caches2/a", "included"), ("Library/a/Caches/b", "included"),
            ("Documents/Library/Caches", "included"),
            ("tmp", "excluded"), ("tmp/a", "excluded-by:tmp"), ("Documents/tmp", "included"),
            ("Notes.app", "excluded"), ("Notes.app/Info.plist", "excluded-by:Notes.app"),
            ("Documents/Notes.app/x", "included"),
            ("iCloud", "excluded"), ("iCloud/iCloud.com.example/a", "excluded-by:iCloud"),
            ("Groups", "included"), ("Groups/group.com.example", "included"),
            ("Groups/group.com.example/Library/Caches", "excluded"),
            ("Groups/group.com.example/Library/Caches/a", "excluded-by:Groups/group.com.example/Library/Caches"),
            ("Groups/group.com.example/Library/Caches2", "included"),
            ("Groups/group.com.example/a/Library/Caches", "included"),
            ("iCloud/id/Library/Caches", "excluded-by:iCloud"),
            ("Groups/group.com.example/tmp/a", "included"),
            (".com.apple.mobile_container_manager.metadata.plist", "excluded"),
        ])
    func places(_ path: String, _ wanted: String) {
        #expect(inclusion(path) == wanted)
    }

    @Test("A mark keeps out what bears it and all that is below")
    func marks() {
        #expect(inclusion("Documents/a", marked: ["Documents/a"]) == "excluded")
        #expect(inclusion("Documents/a/b/c", marked: ["Documents/a"]) == "excluded-by:Documents/a")
        #expect(inclusion("Documents/b", marked: ["Documents/a"]) == "included")
        #expect(
            inclusion("Groups/group.com.example/a", marked: ["Groups/group.com.example"])
                == "excluded-by:Groups/group.com.example")
    }

    @Test("Of several directories the outermost is told, and a mark of its own before any")
    func nested() {
        let marked: Set = ["Documents/a", "Documents/a/b", "Documents/a/b/own"]
        #expect(inclusion("Documents/a/b/c", marked: marked) == "excluded-by:Documents/a")
        #expect(inclusion("Documents/a/b/own", marked: marked) == "excluded")
        #expect(inclusion("tmp/a/b", marked: ["tmp/a"]) == "excluded-by:tmp")
        #expect(inclusion("Library/Caches/a", marked: ["Library"]) == "excluded-by:Library")
        #expect(inclusion("Library/Caches", marked: ["Library"]) == "excluded")
    }

    @Test("Nothing is looked at that the answer does not need")
    func cost() {
        var asked: [Int] = []
        _ = SandboxPolicy.inclusion(of: path("tmp/a/b"), never: 1) { (count) throws(Never) in
            asked.append(count)
            return false
        }
        #expect(asked == [3])
        asked = []
        _ = SandboxPolicy.inclusion(of: path("Documents/a/b"), never: nil) { (count) throws(Never) in
            asked.append(count)
            return count == 2
        }
        #expect(asked == [3, 1, 2])
    }

    @Test(arguments: [
        ("Documents", false), ("Documents/Inbox", false), ("Documents/tmp", false), ("Library", false),
        ("Library/Caches", true), ("Library/Preferences", false), ("tmp", true), (".update", true),
        (".com.apple.mobile_container_manager.metadata.plist", true),
    ])
    func `of a data container on the host a backup has Documents, and Library without Caches`(
        _ path: String, _ isNever: Bool
    ) {
        let names = path.split(separator: "/").map { FileName(String($0))! }
        #expect(SandboxPolicy.isNeverInBackup(inData: names) == isNever)
    }
}
