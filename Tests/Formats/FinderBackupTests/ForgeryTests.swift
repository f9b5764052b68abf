// A backup that says that it was made here is believed no more than any other: whoever made it can make digests as well.

import BackupModel
import DataProtection
import FinderBackup
import SandboxModel
import TestSupport
import Testing

@Suite struct ForgeryTests {
    /// What a file's attributes give it on the host is nobody's to choose.
    @Test(arguments: ["security.capability", "trusted.x", "system.posix_acl_access", "com.apple.x", "user.", "x"])
    func attributesThatAreNoAppsAreRefused(name: String) throws {
        let scratch = Scratch()
        let attribute = BackupEntry.Attribute(name: Array(name.utf8), value: [1])
        _ = try write([Item(""), .file("a", [1], attributes: [attribute])], to: scratch["out"])
        let refused = complaint { _ = try read(scratch["out"]) }
        #expect(refused?.kind == .invalidBackup)
        #expect(refused?.message.contains("no app can have set") == true)
    }

    @Test(arguments: ["user.xdg.robots.backup", "user.com.apple.MobileBackup"])
    func otherNamesOfTheMarkAreNotWritten(name: String) throws {
        let scratch = Scratch()
        let attribute = BackupEntry.Attribute(name: Array(name.utf8), value: Array("false".utf8))
        _ = try write([Item(""), .file("a", [1], attributes: [attribute])], to: scratch["out"])
        let entry = try #require(try read(scratch["out"]).last?.entry)
        #expect(!entry.isExcluded && entry.attributes == [])
    }

    /// In place of the table of attributes one that has them without end.
    @Test(.timeLimit(.minutes(1))) func aTableWithoutEndIsRefused() throws {
        let scratch = Scratch()
        let large = BackupEntry.Attribute(name: Array("user.large".utf8), value: Sample.bytes(60_000))
        let further = BackupEntry.Attribute(name: Array("user.more".utf8), value: Sample.bytes(60_000))
        _ = try write([Item(""), .file("a", [1], attributes: [large, further])], to: scratch["out"])
        try Python.run(
            lines: """
                import hashlib, plistlib, sqlite3
                database = sqlite3.connect("Manifest.db")
                database.executescript(\"\"\"
                    DROP TABLE Properties;
                    CREATE VIEW Properties(key, value) AS
                    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'k' || x, x FROM n\"\"\")
                database.close()
                digest = hashlib.sha256(open("Manifest.db", "rb").read()).digest()
                for name, key in (("Manifest.plist", "DatabaseDigest"), ("Status.plist", "ManifestDigest")):
                    values = plistlib.load(open(name, "rb"))
                    values["appcontainer"][key] = digest
                    plistlib.dump(values, open(name, "wb"), fmt=plistlib.FMT_BINARY)
                    digest = hashlib.sha256(open(name, "rb").read()).digest()
                """, in: scratch["out"])
        let refused = complaint { _ = try read(scratch["out"]) }
        #expect(refused?.kind == .invalidBackup && refused?.message.contains("Manifest.db is damaged") == true)
    }

    /// Whoever reads hears of a hole so often that they can end it.
    @Test func longHolesAreToldOf() throws {
        let scratch = Scratch()
        let sink = try FinderBackupSink(path: scratch["out"], apps: [], device: Sample.device, date: Sample.date)
        try sink.begin(Item("").entry)
        try sink.begin(Item("holes", .file(.plain(length: 2 << 30, data: []))).entry)
        try sink.finish()
        let source = try FinderBackupSource(path: scratch["out"], password: nil)
        _ = try source.next()
        _ = try source.next()
        var places: [Int64] = []
        try source.read { bytes, place in
            #expect(bytes.byteCount == 0)
            places.append(place)
        }
        #expect(places.count >= 7 && places == places.sorted())
    }
}
