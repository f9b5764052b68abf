// Backups: both forms as they are read, and the restore of what they say.

import BackupModel
import DataProtection
import Glibc
import Platform
import SandboxModel
import TarFormat

@testable import FinderBackup
@testable import TarBackup

extension FuzzTarget {
    static let backups = [
        FuzzTarget("tar-backup") { input in
            let directory = try InputDirectory()
            var source = try TarBackupSource(path: try directory.add("a.tar", input), scratch: directory.path)
            try readAll(&source)
        },
        FuzzTarget("tar-entries") { input in
            let directory = try InputDirectory()
            let path = try directory.add("a.tar", input)
            let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY))
            let reader = try TarReader(FileInput(file, size: Int64(input.count), name: path), from: .backup(path))
            while let entry = try reader.next() {
                try? reader.content { _, _ in }
                _ = try entry.backupEntry()
            }
        },
        FuzzTarget("tar-manifest") { input in
            for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) {
                guard let parsed = ManifestLine(Array(line)) else { continue }
                require(ManifestLine(Array(parsed.encoded.dropLast())) == parsed, "a line changes when it is written")
            }
            _ = try BackupDescription.decode(input)?.backupApps()
        },
        FuzzTarget("manifest-database") { input in
            let directory = try InputDirectory()
            try directory.add("Manifest.db", input)
            for (name, list) in FinderLists.plain { try directory.add(name, list) }
            var source = try FinderBackupSource(path: directory.path, password: nil)
            try readAll(&source)
        },
        FuzzTarget("manifest-list") { input in
            let directory = try InputDirectory()
            for (name, list) in FinderLists.plain where name != "Manifest.plist" { try directory.add(name, list) }
            try directory.add("Manifest.plist", input)
            _ = try BackupDirectory(directory.path, password: nil)
        },
        FuzzTarget("file-record") { input in
            _ = FileRecord(decoding: input)
            _ = FileRecord.attributes(decoding: input)
        },
        FuzzTarget("backup-keybag") { input in
            _ = try BackupKeybag(decoding: input)
        },
        FuzzTarget("password-keybag") { input in
            let keybag = try PasswordKeybag(decoding: input)
            require(keybag.encoded() == input, "a keybag changes when it is written")
        },
        FuzzTarget("restore") { input in try RestoreDevice.shared.get().restore(input) },
    ]

    /// Reads a backup to its end.
    private static func readAll(_ source: inout some BackupSource) throws {
        while let entry = try source.next() {
            if case .file = entry.kind { try source.read { _, _ in } }
        }
        try source.verifyEnd()
    }
}
