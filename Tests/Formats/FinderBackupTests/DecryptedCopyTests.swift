// Copies of encrypted backups that mvt-ios has decrypted.

import BackupModel
import FinderBackup
import Foundation
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite struct DecryptedCopyTests {
    private static let password = "kuckuck"
    private static let encryption = FinderBackupSink.Encryption(
        password: Array(password.utf8), iterations: Sample.quick)
    /// Archives of a backup and its copy, of this project and of a phone: the tool takes longer than a test.
    private static let made = Mutex<[Bool: Data]>([:])

    @Test func aCopyOfABackupOfOursGivesAllThatWasWritten() throws {
        let scratch = Scratch()
        try make(scratch)
        let source = try FinderBackupSource(path: scratch["copy"], password: nil)
        #expect(source.isDecryptedCopy && source.isOwn && !source.isEncrypted)
        #expect(try read(source) == Sample.items)
        // Its password changes nothing, and neither does another: nothing in it is encrypted.
        #expect(try read(scratch["copy"], password: Array("wrong".utf8)) == Sample.items)
        // The encrypted one still asks for it.
        #expect(complaint { _ = try read(scratch["out"]) }?.kind == .passwordNeeded)
        #expect(complaint { _ = try read(scratch["out"], password: Array("wrong".utf8)) }?.kind == .wrongPassword)
    }

    @Test func aCopyOfAPhonesBackupIsTaken() throws {
        let scratch = Scratch()
        try make(scratch, isOwn: false)
        let whole = try read(scratch["out"], password: Array(Self.password.utf8))
        let source = try FinderBackupSource(path: scratch["copy"], password: nil)
        let found = try read(source)
        #expect(source.isDecryptedCopy && !source.isOwn)
        #expect(found.map(\.entry.path) == whole.map(\.entry.path))
        // The tool gives each file the length of its record.
        #expect(source.otherLengths == 0)
        for (one, other) in zip(found, whole) where one.entry.path.last != "database" { #expect(one == other) }
        // One that says that it is not encrypted, with the keys of its files, is taken as well.
        try Python.edit("Manifest", in: scratch["copy"], "list['IsEncrypted'] = False")
        #expect(try read(scratch["copy"]).count == whole.count)
    }

    @Test func aCopyIsNotContinued() throws {
        let scratch = Scratch()
        try make(scratch)
        for encryption in [nil, Self.encryption] {
            let refused = complaint {
                _ = try write(Sample.items, to: scratch["next"], encryption: encryption, since: scratch["copy"])
            }
            #expect(refused?.kind == .badRequest && refused?.message.contains("decrypted copy") == true)
        }
    }

    /// Each change is one that nobody may make: in a row, in content, in what is encrypted.
    @Test(arguments: [
        "sqlite3 copy/Manifest.db \"UPDATE Files SET flags = 2 WHERE relativePath = 'Documents/a'\"",
        "printf x | dd of=copy/Manifest.db bs=1 seek=4096 conv=notrunc 2>/dev/null",
        "for f in copy/[0-9a-f]*/*; do printf x | dd of=$f bs=1 conv=notrunc 2>/dev/null; done",
        "for f in copy/[0-9a-f]*/*; do truncate -s +1 $f; done",
        "rm copy/[0-9a-f]*/*",
        "cp -r out/[0-9a-f]* copy/",
        "cp out/Manifest.db copy/",
        "cp foreign/Manifest.plist copy/",
    ])
    func aCopyThatWasChangedIsRefused(change: String) throws {
        let scratch = Scratch()
        try make(scratch)
        _ = try write(Sample.items, to: scratch["foreign"], encryption: Self.encryption)
        try shell("cd '\(scratch.path)' && \(change)")
        // With the encrypted Manifest.db it is an encrypted backup again, in which nothing is ciphertext.
        let refused = complaint { _ = try read(scratch["copy"], password: Self.encryption.password) }
        #expect(refused?.kind == .invalidBackup)
    }

    /// A phone's backup has no digests; but ciphertext has a length of its own.
    @Test func encryptedContentInACopyOfAPhonesBackupIsRefused() throws {
        let scratch = Scratch()
        try make(scratch, isOwn: false)
        try shell("cd '\(scratch.path)' && cp -r out/[0-9a-f]* copy/")
        let refused = complaint { _ = try read(scratch["copy"]) }
        #expect(refused?.kind == .invalidBackup && refused?.message.contains("still encrypted") == true)
    }

    /// Lengths that ciphertext of the content never has. The phone writes record and content of a file in use at
    /// different times.
    @Test(arguments: [
        ("beside a", 0), ("beside a", 3), ("beside a", 15), ("beside a", 17), ("beside a", 32),
        ("xxxxxxxxxxxxxxxx", 15), ("xxxxxxxxxxxxxxxx", 31), ("xxxxxxxxxxxxxxxx", 48),
    ])
    func aFileOfAnotherLengthInACopyOfAPhonesBackupIsTaken(text: String, length: Int) throws {
        let scratch = Scratch()
        try make(scratch, isOwn: false)
        try setLength(length, ofFilesWith: text, in: scratch)
        let source = try FinderBackupSource(path: scratch["copy"], password: nil)
        let name: FileName = text == "beside a" ? "a.b" : "tagged"
        let content = try #require(try read(source).first { $0.entry.path.last == name }?.content)
        let expected = Array(text.utf8.prefix(length))
        #expect(content == expected + [UInt8](repeating: 0, count: length - expected.count))
        #expect(source.otherLengths == 1)
    }

    @Test(arguments: [("beside a", 16), ("xxxxxxxxxxxxxxxx", 32)])
    func aFileOfTheLengthOfItsCiphertextIsRefused(text: String, length: Int) throws {
        let scratch = Scratch()
        try make(scratch, isOwn: false)
        try setLength(length, ofFilesWith: text, in: scratch)
        let refused = complaint { _ = try read(scratch["copy"]) }
        #expect(refused?.kind == .invalidBackup && refused?.message.contains("still encrypted") == true)
    }

    /// 0.1.0 wrote no digest of its database in the clear: its copies are taken, and their content is held against
    /// the digests of the rows.
    @Test func aCopyWithoutTheDigestOfItsDatabaseIsHeldAgainstItsRows() throws {
        let scratch = Scratch()
        try make(scratch)
        try Python.run(
            lines: """
                import hashlib, plistlib
                manifest = plistlib.load(open("Manifest.plist", "rb"))
                del manifest["appcontainer"]["ClearDatabaseDigest"]
                data = plistlib.dumps(manifest, fmt=plistlib.FMT_BINARY)
                open("Manifest.plist", "wb").write(data)
                status = plistlib.load(open("Status.plist", "rb"))
                status["appcontainer"]["ManifestDigest"] = hashlib.sha256(data).digest()
                plistlib.dump(status, open("Status.plist", "wb"), fmt=plistlib.FMT_BINARY)
                """, in: scratch["copy"])
        #expect(try read(scratch["copy"]) == Sample.items)
        try shell("cd '\(scratch["copy"])' && for f in [0-9a-f]*/*; do truncate -s +1 $f; done")
        #expect(complaint { _ = try read(scratch["copy"]) }?.kind == .invalidBackup)
    }

    // MARK: Making

    /// Cuts or prolongs the files of the copy that have this text.
    private func setLength(_ length: Int, ofFilesWith text: String, in scratch: Scratch) throws {
        try shell("cd '\(scratch["copy"])' && truncate -s \(length) $(grep -lrx '\(text)' [0-9a-f][0-9a-f])")
    }

    /// Makes an encrypted backup `out`, and its decrypted `copy`.
    private func make(_ scratch: Scratch, isOwn: Bool = true) throws {
        try Self.made.withLock { made in
            if let archive = made[isOwn] {
                try archive.write(to: URL(filePath: scratch["made.tar"]))
                try shell("tar -C '\(scratch.path)' -xpf '\(scratch["made.tar"])'")
                return
            }
            if isOwn {
                _ = try write(Sample.items, to: scratch["out"], encryption: Self.encryption)
            } else {
                try Python.run("make_phone_backup.py", scratch["out"], "--password", Self.password)
            }
            try Python.run(
                "check_with_mvt.py", scratch["out"], Self.password, scratch["copy"], temporary: scratch.path)
            try shell("tar -C '\(scratch.path)' -cf '\(scratch["made.tar"])' out copy")
            made[isOwn] = try Data(contentsOf: URL(filePath: scratch["made.tar"]))
        }
    }
}
