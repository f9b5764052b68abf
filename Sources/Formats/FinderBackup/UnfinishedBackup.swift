// The directory in which a backup grows until it is whole, and how it gets its name.

import Glibc
import HashFunctions
import Platform
import PropertyLists
import SandboxModel

/// Lies beside the directory that it is to become, so that one rename is all that is left to do at the end.
final class UnfinishedBackup {
    /// As the user named it.
    let path: String
    private let parent: Descriptor
    private let name: FileName
    private let temporaryName: FileName
    private let root: Descriptor
    /// For SQLite, which wants a path.
    let temporaryPath: String
    private let mode: mode_t
    private var isThere = true

    /// Which of the 256 directories for content are there.
    private var made: Set<FileName> = []

    init(_ path: String) throws(Complaint) {
        self.path = path
        let place = try UnfinishedBackup.place(path)
        let doing = "cannot write a backup to \(path)"
        let random = Entropy.bytes(8).hexadecimal
        // A name that is as long as one can be leaves no room for more.
        let temporaryName = FileName(".\(place.name.text).\(random)") ?? FileName(".backup.\(random)")!
        (name, self.temporaryName, mode) = (place.name, temporaryName, place.mode)
        temporaryPath = (place.parent == "/" ? "" : place.parent) + "/" + temporaryName.text
        do throws(SystemError) {
            parent = try Descriptor.open(path: place.parent, flags: O_RDONLY | O_DIRECTORY)
            try parent.makeDirectory(temporaryName, mode: S_IRWXU)
            root = try parent.openDirectory(temporaryName)
        } catch {
            throw Complaint(error, doing: doing)
        }
    }

    deinit {
        remove()
    }

    /// Where a backup is to be, links resolved; and the mode it is to have, that of an empty directory that is there.
    private static func place(_ path: String) throws(Complaint) -> (parent: String, name: FileName, mode: mode_t) {
        var absolute = try Complaint.wrap("cannot write a backup to \(path)") { () throws(SystemError) in
            try HostPath.absolute(path)
        }
        while absolute.count > 1, absolute.hasSuffix("/") { absolute.removeLast() }
        let occupied = Complaint(.fileExists, "\(path) is there already; name a directory that is new or empty")
        var mode = S_IRWXU
        do throws(SystemError) {
            absolute = try HostPath.resolved(absolute)
            let found = try Descriptor.open(path: absolute, flags: O_RDONLY | O_DIRECTORY)
            guard try DirectoryReader(try found.duplicate()).next() == nil else { throw .directoryNotEmpty }
            mode = try found.status().permissions
        } catch {
            switch error {
            // A link that leads nowhere is something as well.
            case .noEntry: if (try? HostPath.status(absolute, following: false)) != nil { throw occupied }
            case .notDirectory, .directoryNotEmpty: throw occupied
            default: throw Complaint(error, doing: "cannot write a backup to \(path)")
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

    /// Removes all that was written, unless it has its name.
    func remove() {
        guard isThere else { return }
        isThere = false
        _ = try? parent.removeTree(temporaryName)
    }

    // MARK: Files

    /// A file's place.
    func create(_ identifier: FileIdentifier) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try create(identifier.fileName, in: try directory(of: identifier))
        } catch {
            throw complaint(error)
        }
    }

    func create(_ name: FileName) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try create(name, in: root)
        } catch {
            throw complaint(error)
        }
    }

    private func create(_ name: FileName, in directory: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
    }

    private func directory(of identifier: FileIdentifier) throws(SystemError) -> Descriptor {
        if made.insert(identifier.directory).inserted { try root.makeDirectory(identifier.directory, mode: S_IRWXU) }
        return try root.openDirectory(identifier.directory)
    }

    /// Puts a property list there, in place of one that is there.
    /// - Returns: what was written.
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

    func digest(of name: FileName, buffer: PageBuffer) throws(Complaint) -> [UInt8] {
        do throws(SystemError) {
            let file = try root.open(name, flags: O_RDONLY)
            return try MessageDigest.ofFile(file, length: try file.status().size, buffer: buffer)
        } catch {
            throw complaint(error)
        }
    }

    /// The same content under a further name.
    func link(_ source: FileIdentifier, to target: FileIdentifier) throws(Complaint) {
        do throws(SystemError) {
            _ = try share(source, in: try directory(of: source), as: target) { true }
        } catch {
            throw complaint(error)
        }
    }

    /// Content of an earlier backup, which is nobody's to change.
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

    /// A further link to content, or a copy where that cannot be.
    /// - Returns: false when it was ended early.
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

    /// Makes all of it durable and gives it its name, in that order.
    func publish() throws(Complaint) {
        do throws(SystemError) {
            try root.changeModeOfNamed(mode)
            try parent.synchronizeFilesystem()
            // An empty directory of that name is replaced, and nothing else.
            try parent.rename(temporaryName, to: name, in: parent)
            isThere = false
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

    func complaint(_ error: SystemError) -> Complaint { Complaint(error, doing: "cannot write the backup \(path)") }

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
    /// How hosts say that a file can have no further name there: another filesystem, none with links, too many of them.
    fileprivate var meansNoLink: Bool {
        [.crossDevice, .notPermitted, .notSupported, .tooManyLinks].contains(self)
    }
}
