// Writing a backup as a tar.

public import BackupModel
import Glibc
import Platform
public import SandboxModel
import TarFormat

/// Writes a backup as a pax tar: the description, the entries, and the manifest, without which it is no backup.
///
/// `.appcontainer/Backup.json` is the first entry (``BackupDescription``), `.appcontainer/Manifest` the last
/// (``TarManifest``); between them are the containers' entries, at paths that begin with the domain (``ArchivePath``).
/// Any tar can unpack the archive; class, mark and kinds without a tar type are extended attributes (`TarEntry.Name`).
///
/// Until ``finish()`` the file has a temporary name, and is removed with this object. One thread at a time may use it.
public final class TarBackupSink: BackupSink {
    /// The progress of the current entry.
    struct Content {
        let kind: ManifestLine.Kind
        let entry: TarEntry
        /// The ranges that are not holes; of a sealed file everything.
        let data: [Range<Int64>]
        /// Bytes of the content, with a hole at the end.
        let length: Int64
        /// The index in `data` of the current range, and the offset of the next byte.
        var piece = 0
        var position: Int64 = 0
    }

    /// The path as the user gave it, for messages.
    let path: String
    let name: FileName
    let target: UnfinishedFile
    /// The file of the manifest, which becomes the last entry.
    let spill: UnfinishedFile
    let output: HashedOutput
    private let writer: TarWriter
    /// The place of the last entry in the walk.
    private var order = WalkOrder()
    /// The classes that the directories above the last entry give to new entries, from the container down.
    private var inheritedClasses: [ProtectionClass] = []
    var content: Content?
    /// The earlier backup, if this one continues one.
    var base: TarBase?
    private var isFinished = false

    /// Begins a backup.
    ///
    /// - Parameters:
    ///   - path: the file of the backup, which may not exist.
    ///   - apps: the apps whose containers are in it.
    ///   - keybag: the device's class keys under its backup password, encoded; nil without one.
    ///   - base: an earlier backup in this format. Entries that have not changed since are left out.
    /// - Throws: ``Complaint`` of kind `fileExists`, `badRequest` or `invalidBackup`, or with the host's error.
    public init(
        path: String, apps: [BackupApp], keybag: [UInt8]? = nil, since base: String? = nil
    ) throws(Complaint) {
        let absolute = try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            try HostPath.absolute(path)
        }
        guard let (parent, name) = HostPath.place(of: absolute) else {
            throw Complaint(.badRequest, "\(path) is no name for a file; name one for the backup")
        }
        (self.path, self.name) = (path, name)
        let isTaken = try Complaint.wrapNamed("cannot make \(path)") { () throws(SystemError) in
            try ActingUser.reaching(parent) { () throws(SystemError) in
                try Descriptor.openDirectory(byOwnLinks: parent).exists(name)
            }
        }
        guard !isTaken else { throw TarBackupSink.taken(path) }
        var recorded: BackupDescription.Base?
        if let base {
            let chain = try TarBase(base, scratch: parent)
            recorded = BackupDescription.Base(
                file: try RelativePath.from(parent, to: base),
                identity: chain.identity.hexadecimal)
            self.base = chain
        }
        let files = try Complaint.wrap("cannot write \(path)") { () throws(SystemError) in
            let target = try UnfinishedFile(in: parent)
            let spill = try UnfinishedFile(in: parent)
            try spill.removeName()
            let output = try HashedOutput(target.file, spill: spill.file)
            return (target, spill, output, try TarWriter(output))
        }
        (target, spill, output, writer) = files
        try describe(BackupDescription(apps: apps, base: recorded, keybag: keybag))
    }

    /// The complaint about a file that exists.
    static func taken(_ path: String) -> Complaint {
        Complaint(.fileExists, "\(path) is there already; choose another path, or remove it")
    }

    /// Writes the first entry.
    private func describe(_ description: BackupDescription) throws(Complaint) {
        let bytes = try complaining(about: path) { () throws(ArchiveFlaw) in try description.encoded() }
        try begin(TarEntry(path: BackupDescription.path, length: Int64(bytes.count)), .file)
        try bytes.withSpan { bytes throws(Complaint) in try write(bytes, at: 0) }
        try endEntry()
    }

    /// Runs system calls, and throws their error as a complaint about the backup.
    func writing<Result>(_ body: () throws(SystemError) -> Result) throws(Complaint) -> Result {
        try Complaint.wrap("cannot write \(path)", body)
    }

    // MARK: Entries

    public func begin(_ entry: BackupEntry) throws(Complaint) {
        try endEntry()
        let path = try complaining(about: self.path) { () throws(ArchiveFlaw) in
            try ArchivePath.bytes(entry.domain, entry.path)
        }
        let header = try complaining(about: self.path) { () throws(ArchiveFlaw) in
            let inherited = try inheritedClass(of: entry, path)
            guard !entry.path.isEmpty || entry.kind == .directory else {
                throw ArchiveFlaw("cannot hold \(path.shown): a container is a directory")
            }
            return try TarEntry(entry, at: path, inheriting: inherited)
        }
        advance(to: entry)
        try begin(header, ManifestLine.Kind(entry.kind))
    }

    /// Writes a header, and sets the progress to its beginning.
    private func begin(_ entry: TarEntry, _ kind: ManifestLine.Kind) throws(Complaint) {
        try writing { () throws(SystemError) in try writer.begin(entry) }
        if case .file(let length, let data) = entry.kind {
            content = Content(kind: kind, entry: entry, data: data, length: length)
        } else {
            content = Content(kind: kind, entry: entry, data: [], length: 0)
        }
    }

    /// Checks that an entry comes in the order of the walk.
    /// - Returns: the class that the directory above the entry gives to new entries; the standard class for a
    ///   container.
    func inheritedClass(of entry: BackupEntry, _ path: [UInt8]) throws(ArchiveFlaw) -> ProtectionClass {
        try order.requirePlace(of: entry.path, in: entry.domain, path)
        return entry.path.isEmpty ? .standard : inheritedClasses[entry.path.count - 1]
    }

    /// Goes on to an entry, after ``inheritedClass(of:_:)`` has checked its place.
    func advance(to entry: BackupEntry) {
        order.advance(to: entry.path, in: entry.domain, isDirectory: entry.kind == .directory)
        guard entry.kind == .directory else { return }
        inheritedClasses.removeSubrange(entry.path.count...)
        inheritedClasses.append(entry.protection ?? .standard)
    }

    public func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Complaint) {
        guard !bytes.isEmpty else { return try skip(to: offset) }
        var start = 0
        while start < bytes.byteCount {
            let place = offset + Int64(start)
            guard var content, content.piece < content.data.count else { throw changed() }
            let piece = content.data[content.piece]
            if place == piece.lowerBound, content.position < place {
                let hole = place - content.position
                content.position = place
                try writing { () throws(SystemError) in try writer.write(hole: hole) }
            }
            guard content.position == place else { throw changed() }
            let count = Int(min(Int64(bytes.byteCount - start), piece.upperBound - place))
            let part = bytes.extracting(start..<(start + count))
            do throws(SystemError) {
                try writer.write(part)
            } catch {
                throw Complaint(error, doing: "cannot write \(path)")
            }
            content.position += Int64(count)
            if content.position == piece.upperBound { content.piece += 1 }
            self.content = content
            start += count
        }
    }

    /// Skips a part of a hole, up to an offset.
    /// - Throws: ``Complaint`` for an offset behind the hole: the file has changed.
    private func skip(to offset: Int64) throws(Complaint) {
        guard let content, offset > content.position else { return }
        let end = content.piece < content.data.count ? content.data[content.piece].lowerBound : content.length
        guard offset <= end else { throw changed() }
        try writing { () throws(SystemError) in try writer.write(hole: offset - content.position) }
        self.content?.position = offset
    }

    /// Ends the current entry, whose content has to be complete.
    func endEntry() throws(Complaint) {
        guard let content else { return }
        guard content.piece == content.data.count else { throw changed() }
        self.content = nil
        try writing { () throws(SystemError) in
            try writer.write(hole: content.length - content.position)
            try writer.end()
            try output.append(.end(kind: content.kind, content.entry))
        }
    }

    /// The complaint about content that differs from its header: the file changed during the backup.
    private func changed() -> Complaint {
        let entry = content?.entry.path.shown ?? "an entry"
        return Complaint(.unexpected, "cannot write \(path): \(entry) changed while it was read; try again")
    }

    // MARK: The end

    public func finish() throws(Complaint) {
        precondition(!isFinished, "a backup is finished once")
        try endEntry()
        isFinished = true
        let end = try writing { () throws(SystemError) in try output.endManifest() }
        let length = end.bytes + Int64(ManifestEnd.length)
        // A reader would refuse the backup.
        guard length <= TarManifest.longest else {
            throw ArchiveFlaw("cannot hold so many entries; back up fewer apps at once").complaint(about: path)
        }
        do throws(SystemError) {
            try writer.begin(TarManifest.entry(length: length))
            let buffer = PageBuffer(count: 256 << 10)
            var position: Int64 = 0
            while position < length {
                let count = try spill.file.descriptor.read(into: buffer, count: buffer.count, from: position)
                guard count > 0 else { throw SystemError.inputOutput }
                try buffer.withBytes(0, count: count) { bytes throws(SystemError) in try writer.write(bytes) }
                position += Int64(count)
            }
            try writer.end()
            try writer.close()
            try output.finish()
            try target.rename(to: name, mode: .keeping)
        } catch {
            throw error == .exists ? TarBackupSink.taken(path) : Complaint(error, doing: "cannot write \(path)")
        }
    }
}

extension ManifestLine.Kind {
    init(_ kind: BackupEntry.Kind) {
        self =
            switch kind {
            case .file: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .hardLink: .hardLink
            case .fifo: .fifo
            case .socket: .socket
            }
    }
}
