// Backups of an iPhone, which have no digests and no keys of this project.

import BackupModel
import FinderBackup
import Foundation
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite struct PhoneBackupTests {
    private static let password = "over the hills"
    /// Archives of backups by the options of make_phone_backup.py.
    private static let made = Mutex<[[String]: Data]>([:])

    private static let expected = [
        "AppDomain-com.example.Phone: directory",
        "AppDomain-com.example.Phone:Documents directory",
        "AppDomain-com.example.Phone:Documents/a directory",
        "AppDomain-com.example.Phone:Documents/a/c file 3 below a",
        "AppDomain-com.example.Phone:Documents/a.b file 3 beside a",
        "AppDomain-com.example.Phone:Documents/database file 1 longer than it was",
        "AppDomain-com.example.Phone:Documents/empty file 3 ",
        "AppDomain-com.example.Phone:Documents/link link /private/var/mobile",
        "AppDomain-com.example.Phone:Documents/tagged file 3 xxxxxxxxxxxxxxxx excluded user.com.example.tag=value",
        "AppDomainGroup-group.com.example.phone: directory",
        "AppDomainGroup-group.com.example.phone:shared file 2 group",
        "HomeDomain: directory",
        "HomeDomain:Library directory",
        "HomeDomain:Library/Preferences directory",
        "HomeDomain:Library/Preferences/com.example.plist file 4 " + String(repeating: "<plist/>", count: 100),
    ]

    @Test(arguments: [[], ["--xml"], ["--password", password], ["--password", password, "--xml"]])
    func allOfItIsGivenInTheOrderOfAWalk(options: [String]) throws {
        let scratch = Scratch()
        try make(scratch["phone"], options)
        let source = try FinderBackupSource(
            path: scratch["phone"], password: options.contains("--password") ? Array(Self.password.utf8) : nil)
        #expect(try read(source).map(shown) == Self.expected)
        #expect(!source.isOwn)
        // Rows of other kinds, and the file that grew during the backup.
        #expect(source.unknownRows == 1)
        #expect(source.otherLengths == 1)
    }

    @Test func theAppsAreThoseThatHaveAContainer() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        let app = try #require(try FinderBackupSource(path: scratch["phone"], password: nil).apps.first)
        #expect(app.identifier.text == "com.example.Phone" && app.version == "7.1" && app.owner == 501)
    }

    @Test func onlyTheDomainsThatAreWantedAreGiven() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        let items = try read(scratch["phone"], domains: [BackupDomain(name: "HomeDomain")])
        #expect(items.map(shown) == Array(Self.expected.suffix(4)))
    }

    @Test func nothingIsMadeInTheBackupsDirectory() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        // A database in WAL mode, for which SQLite usually makes a log.
        try Python.run(
            lines: """
                import sqlite3
                database = sqlite3.connect("Manifest.db")
                database.execute("PRAGMA journal_mode=WAL")
                database.execute("INSERT INTO Properties VALUES ('a', 'b')")
                database.commit()
                database.close()
                """, in: scratch["phone"])
        try shell("chmod -R a-w \(scratch["phone"])")
        let before = try shell("find \(scratch["phone"]) -printf '%p %s %T@ %C@\\n' | sort")
        #expect(try read(scratch["phone"]).count == Self.expected.count)
        #expect(try shell("find \(scratch["phone"]) -printf '%p %s %T@ %C@\\n' | sort") == before)
    }

    @Test func theRightPasswordIsAskedFor() throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--password", Self.password])
        #expect(complaint { _ = try read(scratch["phone"]) }?.kind == .passwordNeeded)
        #expect(complaint { _ = try read(scratch["phone"], password: [1]) }?.kind == .wrongPassword)
        #expect(complaint { _ = try read(scratch["phone"], password: []) }?.kind == .wrongPassword)
    }

    /// Invalid changes of Manifest.db, and a part of the complaint.
    @Test(arguments: [
        ("UPDATE Files SET relativePath = '../evil' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = 'Documents/../../evil' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = '/etc/passwd' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = 'Documents//a' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = 'Documents/' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = 'Documents/.' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = 'x' || char(0) || 'y' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET relativePath = replace(hex(zeroblob(2100)), '00', 'a/') || 'a'", "leads out"),
        ("UPDATE Files SET relativePath = NULL WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET relativePath = 'Documents/a' WHERE relativePath = 'Documents/a.b'", "twice"),
        ("UPDATE Files SET relativePath = 'Documents/a.b/c' WHERE relativePath = 'Documents/tagged'", "no directory"),
        ("UPDATE Files SET domain = NULL WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET domain = x'00' WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET domain = '' WHERE relativePath = 'Documents/a.b'", "leads out"),
        ("UPDATE Files SET fileID = '../../../etc/passwd' WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("UPDATE Files SET fileID = upper(fileID) WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("UPDATE Files SET fileID = replace(fileID, '0', '1') WHERE flags = 1", "damaged"),
        ("UPDATE Files SET flags = 2 WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("UPDATE Files SET flags = 1 WHERE relativePath = 'Documents/link'", "no sense"),
        ("UPDATE Files SET file = NULL WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET file = x'' WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("UPDATE Files SET file = 'text' WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET file = randomblob(2000) WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("UPDATE Files SET file = zeroblob(5000000) WHERE relativePath = 'Documents/a.b'", "Manifest.db"),
        ("UPDATE Files SET file = substr(file, 1, length(file) - 1) WHERE relativePath = 'Documents/a.b'", "no sense"),
        ("DROP TABLE Files", "Manifest.db"),
        ("ALTER TABLE Files RENAME TO F; CREATE VIEW Files AS SELECT * FROM F", "Manifest.db"),
        (
            "DROP TABLE Files; CREATE VIRTUAL TABLE Files USING fts5(fileID, domain, relativePath, flags, file)",
            "Manifest.db"
        ),
        ("ALTER TABLE Files RENAME COLUMN flags TO other", "Manifest.db"),
        // Domains and rows that make SQLite take quadratic time.
        (
            """
            DROP INDEX FilesDomainIdx;
            WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000)
            INSERT INTO Files SELECT x, 'Domain-' || x, '', 2, x'' FROM n
            """, "Manifest.db"
        ),
    ])
    func rowsThatMakeNoSenseAreRefused(command: String, word: String) throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        try Python.run(
            lines: """
                import sqlite3
                database = sqlite3.connect("Manifest.db")
                database.executescript(\"\"\"\(command)\"\"\")
                database.commit()
                """, in: scratch["phone"])
        let refused = complaint { _ = try read(scratch["phone"]) }
        #expect(refused?.kind == .invalidBackup)
        #expect(refused?.message.contains(word) == true, "\(refused?.message ?? "nothing")")
    }

    /// Invalid changes of the property lists, and a part of the complaint.
    @Test(arguments: [
        ("list['Version'] = '11.0'", Complaint.Kind.newerBackup),
        ("list['Version'] = '3'; list['Version'] = 3", .invalidBackup),
        ("list['IsEncrypted'] = True", .invalidBackup),
        ("del list['IsEncrypted']", .invalidBackup),
        ("list['IsEncrypted'] = 1", .invalidBackup),
        ("list['appcontainer'] = {'Format': 2, 'DatabaseDigest': bytes(32)}", .newerBackup),
        ("list['appcontainer'] = {'Format': 1, 'DatabaseDigest': bytes(32)}", .invalidBackup),
        ("list['appcontainer'] = 'x'", .invalidBackup),
    ])
    func manifestsThatMakeNoSenseAreRefused(change: String, kind: Complaint.Kind) throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        try Python.edit("Manifest", in: scratch["phone"], change)
        #expect(complaint { _ = try read(scratch["phone"]) }?.kind == kind)
    }

    @Test(arguments: [
        ("del list['BackupKeyBag']", Complaint.Kind.invalidBackup),
        ("del list['ManifestKey']", .invalidBackup),
        ("list['ManifestKey'] = list['ManifestKey'][:-1]", .invalidBackup),
        ("list['ManifestKey'] = bytes([99]) + list['ManifestKey'][1:]", .invalidBackup),
        ("list['BackupKeyBag'] = list['BackupKeyBag'][:-1]", .invalidBackup),
        ("list['BackupKeyBag'] = b''", .invalidBackup),
        ("list['IsEncrypted'] = False", .invalidBackup),
        // The number of iterations: four bytes after tag and length.
        (
            "k = list['BackupKeyBag']; i = k.index(b'DPIC') + 8; list['BackupKeyBag'] = k[:i] + b'\\xff' * 4 + k[i + 4:]",
            .invalidBackup
        ),
        (
            "k = list['BackupKeyBag']; i = k.index(b'ITER') + 8; list['BackupKeyBag'] = k[:i] + bytes(4) + k[i + 4:]",
            .invalidBackup
        ),
    ])
    func keybagsThatMakeNoSenseAreRefused(change: String, kind: Complaint.Kind) throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--password", Self.password])
        try Python.edit("Manifest", in: scratch["phone"], change)
        #expect(complaint { _ = try read(scratch["phone"], password: Array(Self.password.utf8)) }?.kind == kind)
    }

    @Test(arguments: [
        ("mv Manifest.db Manifest.mbdb", "iOS 10.2"),
        ("rm Manifest.db", "no Manifest.db"),
        ("rm Manifest.db; mkfifo Manifest.db", "no Manifest.db"),
        ("mv Manifest.db elsewhere; ln -s elsewhere Manifest.db", "no Manifest.db"),
        ("rm Manifest.plist", "no Manifest.plist"),
        ("rm Manifest.plist; mkfifo Manifest.plist", "no Manifest.plist"),
        ("rm Status.plist", "no Status.plist"),
        ("echo '<plist><dict/></plist>' >Status.plist", "Status.plist is damaged"),
        (
            "echo '<plist><dict><key>SnapshotState</key><string>uploading</string></dict></plist>' >Status.plist",
            "never finished"
        ),
        ("echo x >Manifest.db-wal", "Manifest.db-wal"),
        (#"printf '\331\325\005\371\040\241\143\327rest' >Manifest.db-journal"#, "Manifest.db-journal"),
        ("truncate -s 0 Manifest.db", "Manifest.db"),
        ("truncate -s 5000 Manifest.db", "Manifest.db"),
        ("head -c 20000 /dev/zero >Manifest.db", "Manifest.db"),
        ("truncate -s 9M Manifest.plist", "larger"),
        // A recursive parser would overflow the stack here.
        ("{ printf '<plist>'; yes '<array>' | head -100000; } >Manifest.plist", "Manifest.plist is damaged"),
        ("rm -r [0-9a-f][0-9a-f]", "is damaged"),
        ("for f in [0-9a-f][0-9a-f]/*; do rm $f; ln -s /etc/passwd $f; done", "is damaged"),
        ("for f in [0-9a-f][0-9a-f]/*; do rm $f; mkdir $f; done", "is damaged"),
    ])
    func filesThatAreMissingOrMakeNoSenseAreRefused(command: String, word: String) throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--xml"])
        try shell("cd \(scratch["phone"]); \(command)")
        let refused = complaint { _ = try read(scratch["phone"]) }
        #expect(refused?.kind == .invalidBackup)
        #expect(refused?.message.contains(word) == true, "\(refused?.message ?? "nothing")")
    }

    /// A journal with zeros at its beginning is applied (PRAGMA journal_mode=PERSIST).
    @Test func aJournalThatIsDoneWithIsPassedOver() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        try shell("head -c 1024 /dev/zero >\(scratch["phone"])/Manifest.db-journal")
        #expect(try read(scratch["phone"]).count == Self.expected.count)
    }

    /// Hashing so many zeros would take an hour.
    @Test(.timeLimit(.minutes(1)))
    func terabytesOfNothingAreGivenAtOnce() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        try shell("cd \(scratch["phone"]); truncate -s 4T $(grep -lr 'beside a' [0-9a-f][0-9a-f])")
        let source = try FinderBackupSource(path: scratch["phone"], password: nil)
        while let entry = try source.next() {
            var given = 0
            try source.read { bytes, _ in given += bytes.byteCount }
            guard entry.path.last == "a.b" else { continue }
            #expect(entry.kind == .file(.plain(length: 4 << 40, data: [0..<4096])) && given == 4096)
        }
    }

    @Test func aPathThatSQLiteDoesNotTakeIsSaidToBeTooLong() throws {
        let scratch = Scratch()
        let deep = scratch["deep"] + String(repeating: "/" + String(repeating: "d", count: 100), count: 5)
        try make(scratch["phone"])
        try shell("mkdir -p \(deep); mv \(scratch["phone"]) \(deep)")
        let refused = complaint { _ = try read(deep + "/phone") }
        #expect(refused?.kind == .badRequest && refused?.message.contains("too long") == true)
        #expect(complaint { _ = try write(Sample.items, to: deep + "/out") }?.kind == .badRequest)
        #expect(try shell("ls -A \(deep)") == "phone\n")
    }

    /// All forms of the mark of exclusion, and values that remove it.
    @Test(arguments: [
        (#""com.apple.MobileBackup": b"\1""#, true), (#""com.apple.MobileBackup": b"\0""#, false),
        (#""xdg.robots.backup": b"false""#, true), (#""xdg.robots.backup": b"true""#, false),
        (#""com.apple.metadata:com_apple_backup_excludeItem": b"""#, true),
    ])
    func everyNameOfTheMarkIsTheMarkAndNoAttribute(attribute: String, isExcluded: Bool) throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--attributes", "{\(attribute)}"])
        let entry = try #require(try read(scratch["phone"]).first { $0.entry.path.last == "tagged" }?.entry)
        #expect(entry.isExcluded == isExcluded && entry.attributes == [])
    }

    @Test(arguments: [
        #""": b"x""#, #""appcontainer.protection": b"x""#, "\"\(String(repeating: "x", count: 251))\": b\"x\"",
    ])
    func attributesThatNoAppCanSetAreRefused(attribute: String) throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--attributes", "{\(attribute)}"])
        #expect(complaint { _ = try read(scratch["phone"]) }?.kind == .invalidBackup)
    }

    @Test func groupsOfWhichNobodyTellsWhoseTheyAreAreNamed() throws {
        let scratch = Scratch()
        try make(scratch["phone"])
        let source = try FinderBackupSource(path: scratch["phone"], password: nil)
        #expect(source.groups.map(\.text) == ["group.com.example.phone"])
    }

    @Test func aPathThatIsNoBackupIsNamed() throws {
        let scratch = Scratch()
        try shell("touch \(scratch["file"]); mkdir \(scratch["empty"])")
        #expect(complaint { _ = try read(scratch["none"]) }?.kind == .notFound)
        #expect(complaint { _ = try read(scratch["file"]) }?.kind == .invalidBackup)
        #expect(complaint { _ = try read(scratch["empty"]) }?.kind == .invalidBackup)
    }

    @Test func aProtectionClassThatNobodyKnowsIsRefused() throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--class", "12"])
        #expect(complaint { _ = try read(scratch["phone"]) }?.message.contains("protection class 12") == true)
    }

    @Test(arguments: [("1", ProtectionClass.complete), ("2", .completeUnlessOpen), ("6", .none), ("7", .complete)])
    func aPhonesOtherClassesBecomeTheNearest(number: String, expected: ProtectionClass) throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--class", number])
        let item = try read(scratch["phone"]).first { $0.entry.path.last == "a.b" }
        #expect(item?.entry.protection == expected)
    }

    @Test func encryptedContentThatWasCutIsRefused() throws {
        let scratch = Scratch()
        try make(scratch["phone"], ["--password", Self.password])
        try shell("cd \(scratch["phone"]); for f in [0-9a-f][0-9a-f]/*; do truncate -s -16 $f; done")
        #expect(
            complaint { _ = try read(scratch["phone"], password: Array(Self.password.utf8)) }?.kind == .invalidBackup)
    }

    /// Random changes are accepted or refused, and never crash the process.
    @Test(arguments: [[], ["--password", password]])
    func noByteEndsTheProcess(options: [String]) throws {
        let scratch = Scratch()
        try make(scratch["phone"], options)
        let password = options.isEmpty ? nil : Array(Self.password.utf8)
        var refused = 0
        try Damage.forEach(in: scratch["phone"], changes: rounds(25, full: 60)) {
            if complaint({ _ = try read(scratch["phone"], password: password) }) != nil { refused += 1 }
        }
        #expect(refused > rounds(8, full: 20))
    }

    // MARK: Helpers

    private func make(_ path: String, _ options: [String] = []) throws {
        try Self.made.withLock { made in
            let archive = try made[options] ?? archive(of: options)
            made[options] = archive
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try archive.write(to: URL(filePath: path + ".tar"))
            try shell("tar -C '\(path)' -xpf '\(path).tar'; rm '\(path).tar'")
        }
    }

    /// The phone's backup of these options as a tar archive: the script takes longer than a test.
    private func archive(of options: [String]) throws -> Data {
        let scratch = Scratch()
        try run(scratch["phone"], options)
        try shell("tar -C '\(scratch["phone"])' -cf '\(scratch["phone.tar"])' .")
        return try Data(contentsOf: URL(filePath: scratch["phone.tar"]))
    }

    private func run(_ path: String, _ options: [String]) throws {
        let (one, two, three) = (options.first ?? "", options.dropFirst().first ?? "", options.dropFirst(2).first ?? "")
        switch options.count {
        case 0: try Python.run("make_phone_backup.py", path)
        case 1: try Python.run("make_phone_backup.py", path, one)
        case 2: try Python.run("make_phone_backup.py", path, one, two)
        default: try Python.run("make_phone_backup.py", path, one, two, three)
        }
    }

    private func shown(_ item: Item) -> String {
        let entry = item.entry
        var text = "\(entry.domain.name):\(entry.path.text) "
        switch entry.kind {
        case .directory: text += "directory"
        case .symbolicLink(let target): text += "link " + String(decoding: target, as: UTF8.self)
        case .file: text += "file \(entry.protection?.rawValue ?? 0) " + String(decoding: item.content!, as: UTF8.self)
        default: text += "other"
        }
        if entry.isExcluded { text += " excluded" }
        for attribute in entry.attributes {
            text += " \(String(decoding: attribute.name, as: UTF8.self))="
            text += String(decoding: attribute.value, as: UTF8.self)
        }
        return text
    }
}
