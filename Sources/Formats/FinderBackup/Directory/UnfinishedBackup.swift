// The temporary directory of a backup that is being written, and its renaming at the end.

import Glibc
import HashFunctions
import Platform
import PropertyLists
import SandboxModel

/// A directory beside the destination, so that one rename(2) publishes the backup.
final class UnfinishedBackup {
    /// As the user gave it, for messages.
    let path: String
    private let parent: Descriptor
    private let name: FileName
    private let temporaryName: FileName
    private let root: Descriptor
    /// The path of the temporary directory, which SQLite requires.
    let temporaryPath: String
    /// The mode that the backup gets at the end.
    private let mode: mode_t
    /// False once the directory is removed or renamed.
    private var isUnpublished = true

    /// The directories for content that exist, of 256.
    private var made: Set<FileName> = []

    /// Makes the temporary directory.
    /// - Throws: ``Complaint`` of kind `fileExists` or `badRequest`, or with the host's error.
    init(_ path: String) throws(Complaint) {
        self.path = path
        let place = try UnfinishedBackup.place(path)
        let doing = "cannot write a backup to \(path)"
        let random = Entropy.bytes(8).hexadecimal
        // The longest possible names cannot be extended.
        let temporaryName = FileName(".\(place.name.text).\(random)") ?? FileName(".backup.\(random)")!
        (name, self.temporaryName, mode) = (place.name, temporaryName, place.mode)
        temporaryPath = (place.parent == "/" ? "" : place.parent) + "/" + temporaryName.text
        do throws(SystemError) {
            parent = try Descriptor.openDirectory(byOwnLinks: place.parent)
            try parent.makeDirectory(temporaryName, mode: S_IRWXU)
            root = try parent.openDirectory(temporaryName)
        } catch {
            throw Complaint(named: error, doing: doing)
        }
    }

    deinit {
        remove()
    }

    /// The destination with links resolved, and the mode of the backup: that of the empty directory at the destination.
    private static func place(_ path: String) throws(Complaint) -> (parent: String, name: FileName, mode: mode_t) {
        var absolute = try Complaint.wrap("cannot write a backup to \(path)") { () throws(SystemError) in
            HostPath.withoutTrailingSlashes(try HostPath.absolute(path))
        }
        let occupied = Complaint(.fileExists, "\(path) is there already; name a directory that is new or empty")
        var mode = S_IRWXU
        do throws(SystemError) {
            // No link of another user leads there; and none is in what is resolved.
            if (try? HostPath.status(absolute, following: false))?.kind == .symbolicLink {
                _ = try Descriptor.openDirectory(byOwnLinks: absolute)
            } else if let above = HostPath.place(of: absolute)?.directory {
                _ = try Descriptor.openDirectory(byOwnLinks: above)
            }
            absolute = try HostPath.resolved(absolute)
            let found = try Descriptor.open(path: absolute, flags: O_RDONLY | O_DIRECTORY)
            guard try DirectoryReader(try found.duplicate()).next() == nil else { throw .directoryNotEmpty }
            mode = try found.status().permissions
        } catch {
            switch error {
            // A dangling symbolic link occupies the name too.
            case .noEntry: if (try? HostPath.status(absolute, following: false)) != nil { throw occupied }
            case .notDirectory, .directoryNotEmpty: throw occupied
            default: throw Complaint(named: error, doing: "cannot write a backup to \(path)")
            }
        }
        guard !absolute.isEmpty else {
            throw Complaint(.badRequest, "name the directory that the backup is to be made in")
        }
        guard let place = HostPath.place(of: absolute) else {
            throw Complaint(.badRequest, "\(path) is no name for a backup; name a directory that is to be made")
        }
        return (place.directory, place.name, mode)
    }

    /// Removes everything that was written, unless it is published.
    func remove() {
        guard isUnpublished else { return }
        isUnpublished = false
        _ = try? parent.removeTree(temporaryName)
    }

    // MARK: Files

    /// Creates the file for content.
    func create(_ identifier: FileIdentifier) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try create(identifier.fileName, in: try directory(of: identifier))
        } catch {
            throw complaint(error)
        }
    }

    /// Creates a file at the top of the backup.
    func create(_ name: FileName) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try create(name, in: root)
        } catch {
            throw complaint(error)
        }
    }

    /// Creates a file that only its owner can read.
    private func create(_ name: FileName, in directory: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
    }

    /// The directory for content, made when it is first needed.
    private func directory(of identifier: FileIdentifier) throws(SystemError) -> Descriptor {
        if made.insert(identifier.directory).inserted { try root.makeDirectory(identifier.directory, mode: S_IRWXU) }
        return try root.openDirectory(identifier.directory)
    }

    /// Writes a property list in binary form, over an earlier one.
    /// - Returns: its bytes.
    @discardableResult
    func write(_ list: some Encodable, to name: FileName) throws(Complaint) -> [UInt8] {
        guard let bytes = try? PropertyListCoding.encode(list, as: .binary) else {
            throw Complaint(.unexpected, "cannot write the backup \(path): its \(name.text) is no property list")
        }
        do throws(SystemError) {
            let file = try root.open(name, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: S_IRUSR | S_IWUSR)
            try file.append(bytes)
            return bytes
        } catch {
            throw complaint(error)
        }
    }

    /// SHA-256 of a file at the top of the backup.
    func digest(of name: FileName, buffer: PageBuffer) throws(Complaint) -> [UInt8] {
        do throws(SystemError) {
            let file = try root.open(name, flags: O_RDONLY)
            return try MessageDigest.ofFile(file, length: try file.status().size, buffer: buffer)
        } catch {
            throw complaint(error)
        }
    }

    /// Gives content a further name.
    func link(_ source: FileIdentifier, to target: FileIdentifier) throws(Complaint) {
        do throws(SystemError) {
            _ = try share(source, in: try directory(of: source), as: target) { true }
        } catch {
            throw complaint(error)
        }
    }

    /// Takes content over from an earlier backup. A hard link suffices, as finished backups do not change, and outlives
    /// the earlier backup. ``BackupBase`` has verified the content.
    /// - Throws: ``Complaint/cancelled`` when `goOn` returns false.
    func take(
        _ identifier: FileIdentifier, from base: BackupDirectory, goOn: () -> Bool
    ) throws(Complaint) {
        let isWhole: Bool
        do throws(SystemError) {
            let source = try base.root.openDirectory(identifier.directory)
            isWhole = try share(identifier, in: source, as: identifier, goOn: goOn)
        } catch {
            throw complaint(error)
        }
        guard isWhole else { throw Complaint.cancelled }
    }

    /// Links content, or copies it where the host allows no link.
    /// - Returns: false when cancelled.
    private func share(
        _ source: FileIdentifier, in directory: borrowing Descriptor, as target: FileIdentifier, goOn: () -> Bool
    ) throws(SystemError) -> Bool {
        let targetDirectory = try self.directory(of: target)
        do throws(SystemError) {
            try directory.link(source.fileName, to: target.fileName, in: targetDirectory)
            return true
        } catch {
            guard error.meansNoLink else { throw error }
            let content = try directory.open(source.fileName, flags: O_RDONLY)
            return try create(target.fileName, in: targetDirectory).copyContent(of: content) { _ in goOn() }
        }
    }

    // MARK: The end

    /// Makes the backup durable, then gives it its name.
    /// - Throws: ``Complaint`` of kind `fileExists` if the destination was taken meanwhile, `badRequest` for a mount
    ///   point, or with the host's error.
    func publish() throws(Complaint) {
        do throws(SystemError) {
            try root.changeModeOfNamed(mode)
            try parent.synchronizeFilesystem()
            // rename(2) replaces an empty directory, and nothing else.
            try parent.rename(temporaryName, to: name, in: parent)
            isUnpublished = false
            try parent.synchronize()
        } catch {
            if [.directoryNotEmpty, .exists, .notDirectory].contains(error) {
                throw Complaint(.fileExists, "\(path) was made meanwhile; name a directory that is new or empty")
            }
            if error == .busy {
                throw Complaint(
                    .badRequest, "\(path) is a mount point, whose place no backup takes; name a directory in it")
            }
            throw complaint(error)
        }
    }

    // MARK: Complaints

    /// A complaint about an error of the host.
    func complaint(_ error: SystemError) -> Complaint { Complaint(error, doing: "cannot write the backup \(path)") }

    /// Runs calls of SQLite, and throws their fault as a complaint about the backup.
    /// - Throws: ``Complaint`` of kind `badRequest` for a path above SQLite's limit, `unexpected`, or with the host's
    ///   error.
    func fromDatabase<Result>(_ body: () throws(DatabaseFault) -> Result) throws(Complaint) -> Result {
        do throws(DatabaseFault) {
            return try body()
        } catch {
            switch error {
            case .host(let error): throw complaint(error)
            case .pathTooLong:
                throw Complaint(.badRequest, "SQLite cannot write to \(path): the path is too long; name a shorter one")
            case .duplicate: throw Complaint(.unexpected, "cannot write the backup \(path): a path was given twice")
            case .damaged: throw Complaint(.unexpected, "cannot write the backup \(path): its Manifest.db was changed")
            case .other(let code):
                throw Complaint(.unexpected, "cannot write the backup \(path): SQLite error \(code)")
            }
        }
    }
}

extension SystemError {
    /// Whether the error means that the host allows no hard link: another filesystem, one without links, too many
    /// links.
    fileprivate var meansNoLink: Bool {
        [.crossDevice, .notPermitted, .notSupported, .tooManyLinks].contains(self)
    }
}
