// A Finder backup that is open for reading: whose it is, whether it was finished, and its keys.

import DataProtection
import Glibc
import HashFunctions
import Platform
import PropertyLists
import SandboxModel

/// The directory that holds Manifest.plist. Nothing in it is changed, and no link in it is followed.
final class BackupDirectory {
    /// As the user named it.
    let path: String
    let root: Descriptor
    let manifest: Manifest
    /// nil where the backup is not encrypted.
    let keys: BackupKeys?

    /// Far more than a property list of a backup has.
    private static let longestList: Int64 = 8 << 20

    /// - Parameter password: passed over where the backup is not encrypted.
    init(_ path: String, password: [UInt8]?) throws(Complaint) {
        self.path = path
        root = try BackupDirectory.open(path)
        manifest = try BackupDirectory.readManifest(root, path)
        keys = try manifest.keybag.map { bytes throws(Complaint) in
            try BackupDirectory.open(keybag: bytes, password: password, path)
        }
    }

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

    /// Reads Manifest.plist, and Status.plist, without which nobody knows whether there will be more.
    private static func readManifest(_ root: borrowing Descriptor, _ path: String) throws(Complaint) -> Manifest {
        guard let bytes = try contents(of: Manifest.fileName, in: root, path) else {
            throw Complaint(
                .invalidBackup,
                "\(path) is no Finder backup: it has no Manifest.plist; name the directory that holds Manifest.db")
        }
        let manifest: Manifest
        do throws(Manifest.Flaw) {
            manifest = try Manifest(decoding: bytes)
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
        if manifest.isOwn {
            guard status.manifestDigest == HashFunction.sha256.digest(of: bytes) else {
                throw damaged(path, "its Manifest.plist is not the one that was written")
            }
        } else if status.manifestDigest != nil {
            throw damaged(path, "its Manifest.plist is not the one that was written")
        }
        return manifest
    }

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

    /// A file of the backup's own.
    /// - Returns: nil where there is none, or something else than a file.
    static func openFile(
        _ name: FileName, in directory: borrowing Descriptor
    ) throws(SystemError) -> (file: SharedDescriptor, length: Int64)? {
        do throws(SystemError) {
            // Opening a fifo would wait for its writer.
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

    /// A file's content as it is stored.
    /// - Returns: nil where there is none.
    func stored(_ identifier: FileIdentifier) throws(SystemError) -> (file: SharedDescriptor, length: Int64)? {
        do throws(SystemError) {
            return try BackupDirectory.openFile(identifier.fileName, in: try root.openDirectory(identifier.directory))
        } catch {
            guard error.meansNoFile else { throw error }
            return nil
        }
    }

    // MARK: Complaints

    /// - Parameter what: the end of a sentence about the backup.
    func damaged(_ what: String) -> Complaint { BackupDirectory.damaged(path, what) }

    private static func damaged(_ path: String, _ what: String) -> Complaint {
        Complaint(.invalidBackup, "\(path) cannot be used: \(what); use another backup or another copy of this one")
    }
}

extension SystemError {
    /// How the host says that there is no file of that name: none, a link that is not to be followed, a device.
    fileprivate var meansNoFile: Bool {
        [.noEntry, .notDirectory, .tooManySymbolicLinks, .noSuchAddress].contains(self)
    }
}
