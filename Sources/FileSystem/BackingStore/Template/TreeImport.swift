// Reading the containers of a device out of a template, which is the input of an attacker.

import DeviceTemplate
import Glibc
import Platform
import SandboxModel
import TarFormat

/// Makes a tree from the entries of a template, which come in the order that ``TreeExport`` writes them in.
///
/// No link that the template has made is followed: every entry is made by the descriptor of its directory, which was
/// opened without following one.
struct TreeImport: ~Copyable {
    private let reader: TemplateReader
    private let owners: FileOwners
    private let top: SharedDescriptor
    private let target: TreeCursor
    /// The names that lead from the top to the cursor's directory.
    private var way: [FileName] = []
    /// The headers of the directories on the way: mode and times are set when nothing more comes into one.
    private var headers: [TarEntry] = []
    /// Directories whose modes keep this user out, which are set at the end: a later entry may be a further name of a
    /// file in one.
    private var closed = ClosedDirectories()

    /// - Parameter target: the directory that the paths of the template begin in.
    init(_ reader: TemplateReader, to target: consuming Descriptor, owners: FileOwners) {
        (self.reader, self.owners) = (reader, owners)
        top = SharedDescriptor(target)
        self.target = TreeCursor(top)
    }

    private func flaw(_ words: String, _ entry: TarEntry) -> Complaint {
        reader.origin.complaint(ArchiveFlaw("\(words): \(entry.path.shown)"))
    }

    /// Makes an entry and all that follow.
    /// - Parameter progress: called with the bytes of content made since the last call; false cancels.
    /// - Returns: false if cancelled.
    mutating func run(from first: TarEntry, progress: (Int64) -> Bool) throws(Complaint) -> Bool {
        var next: TarEntry? = first
        while let entry = next {
            let path = try self.path(of: entry.path, entry)
            try go(to: path.dropLast(), entry)
            guard let name = path.last, try make(entry, name, progress: progress) else { return false }
            next = try reader.next()
        }
        while !way.isEmpty { try leave() }
        try Complaint.wrap("cannot set the modes of directories") { () throws(SystemError) in
            try closed.setModes(target)
        }
        return true
    }

    /// The names of a path in the template. Only containers are made here: a name of a record would be a way to the
    /// device's keys.
    private func path(of bytes: [UInt8], _ entry: TarEntry) throws(Complaint) -> [FileName] {
        guard bytes.count <= TreeImport.longestPath, let path = [FileName](joined: bytes),
            path.first == DeviceDirectory.Name.containers
        else { throw flaw("has an entry where no device has one", entry) }
        return path
    }

    /// The limit in bytes, of an export too. It is above PATH_MAX, because deeper trees can be made name by name.
    static let longestPath = 64 << 10

    /// Goes to the directory of the next entry, which is the present one or one above it.
    private mutating func go(to directory: ArraySlice<FileName>, _ entry: TarEntry) throws(Complaint) {
        while way.count > directory.count { try leave() }
        guard way[...] == directory else { throw flaw("has an entry out of order", entry) }
    }

    /// Makes an entry in the present directory.
    /// - Returns: false if cancelled.
    private mutating func make(
        _ entry: TarEntry, _ name: FileName, progress: (Int64) -> Bool
    ) throws(Complaint) -> Bool {
        let isAllowed = entry.attributes.allSatisfy { $0.name.starts(with: TemplateAttribute.namespace) }
        let isSocket = entry.attributes == [TemplateAttribute.socket] && entry.kind == TarEntry.file(0)
        guard isAllowed || isSocket else { throw flaw("has an attribute that no device's file has", entry) }
        let directory = target.directory
        switch entry.kind {
        case .file(let length, _) where !isSocket:
            return try makeFile(entry, name, length: length, progress: progress)
        case .directory:
            try host(entry) { () throws(SystemError) in
                try directory.descriptor.makeDirectory(name, mode: S_IRWXU)
                try target.enter(name)
            }
            way.append(name)
            headers.append(entry)
            return true
        case .hardLink(let target):
            try makeLink(entry, name, to: target)
            return true
        case .file, .fifo, .symbolicLink: break
        }
        guard entry.attributes.isEmpty || isSocket else {
            throw flaw("has attributes where an entry of its kind has none", entry)
        }
        try host(entry) { () throws(SystemError) in
            switch entry.kind {
            case .symbolicLink(let target): try directory.descriptor.makeSymbolicLink(name, target: target)
            case .fifo: try directory.descriptor.makeNode(name, mode: S_IFIFO | S_IRUSR)
            default: try directory.descriptor.makeNode(name, mode: S_IFSOCK | S_IRUSR)
            }
            try directory.descriptor.changeOwner(
                of: name, to: owners.user(entry.owner), group: owners.group(entry.group))
            if case .symbolicLink = entry.kind {
            } else {
                try directory.descriptor.changeMode(of: name, to: entry.permissions & 0o1777)
            }
            try directory.descriptor.changeTimes(of: name, access: entry.modified, modification: entry.modified)
        }
        return true
    }

    /// Gives a file that was made before a further name.
    private func makeLink(_ entry: TarEntry, _ name: FileName, to path: [UInt8]) throws(Complaint) {
        let names = try self.path(of: path, entry)
        guard let last = names.last else { throw flaw("has a further name of no file", entry) }
        do throws(SystemError) {
            try top.descriptor.openDirectory(at: names.dropLast()).link(last, to: name, in: target.directory.descriptor)
        } catch {
            switch error.code {
            // Not there, a directory, or below what is none.
            case ENOENT, EPERM, ENOTDIR, ELOOP, EEXIST: throw flaw("has a further name of no file before it", entry)
            default: throw Complaint(error, doing: "cannot make \(entry.path.shown)")
            }
        }
    }

    /// Makes a file with its content, attributes, owner, mode and times.
    private func makeFile(
        _ entry: TarEntry, _ name: FileName, length: Int64, progress: (Int64) -> Bool
    ) throws(Complaint) -> Bool {
        let file = try host(entry) { () throws(SystemError) in
            let file = try target.directory.descriptor.open(
                name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
            // Holes stay holes.
            try file.truncate(to: length)
            return SharedDescriptor(file)
        }
        var position: Int64 = 0
        try reader.content(length: length) { bytes, offset throws(Complaint) in
            try host(entry) { () throws(SystemError) in try file.descriptor.write(bytes, to: offset) }
            let end = offset + Int64(bytes.byteCount)
            guard progress(end - position) else { throw Complaint.cancelled }
            position = end
        }
        guard progress(length - position) else { return false }
        try host(entry) { () throws(SystemError) in
            for attribute in entry.attributes {
                try AttributeHolder(file: file.descriptor).set(attribute.name, to: attribute.value)
            }
            try file.descriptor.changeOwner(owners.user(entry.owner), group: owners.group(entry.group))
            // No backing file has a set-ID bit (`NodeModes`).
            try file.descriptor.changeMode(entry.permissions & 0o1777)
            try file.descriptor.changeTimes(access: entry.modified, modification: entry.modified)
        }
        return true
    }

    /// Leaves a directory, which nothing more comes into.
    private mutating func leave() throws(Complaint) {
        let entry = headers.removeLast()
        if geteuid() != 0, entry.permissions & S_IRWXU != S_IRWXU { closed.add(way, mode: entry.permissions) }
        closed.left(depth: way.count)
        way.removeLast()
        try host(entry) { () throws(SystemError) in
            // Reopened, because fchmod(2) and its kin refuse an O_PATH descriptor.
            let directory = try target.directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY)
            for attribute in entry.attributes {
                try AttributeHolder(directory).set(attribute.name, to: attribute.value)
            }
            try directory.changeOwner(owners.user(entry.owner), group: owners.group(entry.group))
            try directory.changeMode(geteuid() == 0 ? entry.permissions : entry.permissions | S_IRWXU)
            try directory.changeTimes(access: entry.modified, modification: entry.modified)
            guard target.leave() == 1 else { throw .stale }
        }
    }

    /// Runs calls of the host that make an entry.
    private func host<Result: ~Copyable>(
        _ entry: TarEntry, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            // An entry of that name was made before.
            guard error != .exists else { throw flaw("has an entry twice", entry) }
            throw Complaint(error, doing: "cannot make \(entry.path.shown)")
        }
    }
}
