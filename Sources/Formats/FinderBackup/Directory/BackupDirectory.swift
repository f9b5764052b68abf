// A Finder backup that is open for reading: its manifest, its state and its keys.

import DataProtection
import Glibc
import HashFunctions
import Platform
import PropertyLists
import SandboxModel

/// The directory that holds Manifest.plist. Nothing in it is changed, and no link in it is followed.
final class BackupDirectory {
    /// As the user gave it, for messages.
    let path: String
    let root: Descriptor
    let manifest: FinderManifest
    /// nil if the backup is not encrypted, or no longer.
    let keys: BackupKeys?
    /// Whether a tool has decrypted an encrypted backup: content and Manifest.db are in the clear, and the property
    /// lists are those of the encrypted one. The first bytes of Manifest.db decide, which no ciphertext has but by a
    /// chance of 1 in 2^128.
    let isDecryptedCopy: Bool

    /// The limit of a property list in bytes.
    private static let longestList: Int64 = 8 << 20

    /// Opens a finished backup, and unlocks its keybag.
    /// - Parameter password: ignored if the backup is not encrypted, or no longer.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup`, `newerBackup`, `passwordNeeded` or `wrongPassword`.
    init(_ path: String, password: [UInt8]?) throws(Complaint) {
        self.path = path
        root = try BackupDirectory.open(path)
        manifest = try BackupDirectory.readManifest(root, path)
        if let keybag = manifest.keybag {
            isDecryptedCopy = try BackupDirectory.hasClearDatabase(root, path)
            keys = isDecryptedCopy ? nil : try BackupDirectory.open(keybag: keybag, password: password, path)
        } else {
            (isDecryptedCopy, keys) = (false, nil)
        }
    }

    /// Opens the directory.
    private static func open(_ path: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        } catch {
            switch error {
            case .noEntry:
                throw Complaint(.notFound, "there is no backup at \(path); name the directory that holds Manifest.db")
            case .notDirectory:
                throw Complaint(
                    .invalidBackup, "\(path) is no directory; name the one that holds the backup's Manifest.db")
            default: throw Complaint(error, doing: "cannot open \(path)")
            }
        }
    }

    /// Decodes a keybag, and unwraps its class keys.
    private static func open(
        keybag bytes: [UInt8], password: [UInt8]?, _ path: String
    ) throws(Complaint) -> BackupKeys {
        do throws(BackupKeybagFault) {
            let keybag = try BackupKeybag(decoding: bytes)
            if let password { return try keybag.open(password: password) }
        } catch {
            switch error {
            case .wrongPassword:
                throw Complaint(.wrongPassword, "that is not the password of \(path); try another")
            case .excessiveIterations:
                throw damaged(path, "its keybag asks for more iterations than any backup has")
            case .damaged: throw damaged(path, "its keybag is damaged")
            }
        }
        throw Complaint(.passwordNeeded, "\(path) is encrypted; give the password that it was made with")
    }

    /// Reads Manifest.plist, and Status.plist, which says whether the backup was finished.
    private static func readManifest(_ root: borrowing Descriptor, _ path: String) throws(Complaint) -> FinderManifest {
        guard let bytes = try contents(of: FinderManifest.fileName, in: root, path) else {
            throw Complaint(
                .invalidBackup,
                "\(path) is no Finder backup: it has no Manifest.plist; name the directory that holds Manifest.db")
        }
        let manifest: FinderManifest
        do throws(FinderManifest.Flaw) {
            manifest = try FinderManifest(decoding: bytes)
        } catch {
            switch error {
            case .newer(let version):
                throw Complaint(
                    .newerBackup,
                    "\(path) has the format \(version.shown), which this version does not know; use a newer appcontainer"
                )
            case .damaged: throw damaged(path, "its Manifest.plist is damaged")
            }
        }
        guard let statusBytes = try contents(of: BackupStatus.fileName, in: root, path) else {
            throw damaged(path, "it has no Status.plist, so nobody can tell whether it was finished")
        }
        guard let status = try? PropertyListCoding.decode(BackupStatus.self, from: statusBytes) else {
            throw damaged(path, "its Status.plist is damaged")
        }
        guard status.isFinished else { throw damaged(path, "it was never finished") }
        // Both lists have this project's key, or neither has: without it a changed backup would pass for an iPhone's,
        // whose content nothing verifies.
        if manifest.isOwn {
            guard status.manifestDigest == HashFunction.sha256.digest(of: bytes) else {
                throw damaged(path, "its Manifest.plist is not the one that was written")
            }
        } else if status.manifestDigest != nil {
            throw damaged(path, "its Manifest.plist is not the one that was written")
        }
        return manifest
    }

    /// Reads a property list; nil if there is none.
    private static func contents(
        of name: FileName, in root: borrowing Descriptor, _ path: String
    ) throws(Complaint) -> [UInt8]? {
        let isTooLong = damaged(path, "its \(name.text) is larger than any backup's")
        let found = try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
            try openFile(name, in: root)
        }
        guard let found else { return nil }
        guard found.length <= longestList else { throw isTooLong }
        return try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
            try found.file.descriptor.readToEnd(limit: Int(longestList))
        }
    }

    /// Opens a file for reading.
    /// - Returns: nil if there is none, or it is no regular file.
    /// - Throws: errors of the host other than those that mean that there is no such file.
    static func openFile(
        _ name: FileName, in directory: borrowing Descriptor
    ) throws(SystemError) -> (file: SharedDescriptor, length: Int64)? {
        do throws(SystemError) {
            // O_NONBLOCK: opening a fifo would wait for a writer.
            let file = try directory.open(name, flags: O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.kind == .file else { return nil }
            return (SharedDescriptor(file), status.size)
        } catch {
            guard error.meansNoFile else { throw error }
            return nil
        }
    }

    // MARK: Content

    /// Opens the stored content of a file.
    /// - Returns: nil if there is none.
    func stored(_ identifier: FileIdentifier) throws(SystemError) -> (file: SharedDescriptor, length: Int64)? {
        do throws(SystemError) {
            return try BackupDirectory.openFile(identifier.fileName, in: try root.openDirectory(identifier.directory))
        } catch {
            guard error.meansNoFile else { throw error }
            return nil
        }
    }

    // MARK: Complaints

    /// A complaint about a damaged backup.
    /// - Parameter what: the part and its flaw: the end of a sentence.
    func damaged(_ what: String) -> Complaint { BackupDirectory.damaged(path, what) }

    private static func damaged(_ path: String, _ what: String) -> Complaint {
        Complaint(.invalidBackup, "\(path) cannot be used: \(what); use another backup or another copy of this one")
    }
}

extension SystemError {
    /// Whether the error means that there is no regular file: no entry, a symbolic link, a socket.
    fileprivate var meansNoFile: Bool {
        [.noEntry, .notDirectory, .tooManySymbolicLinks, .noSuchAddress].contains(self)
    }
}
