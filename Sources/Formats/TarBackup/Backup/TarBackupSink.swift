// A backup that is being written as a tar.

public import BackupModel
import Glibc
import Platform
public import SandboxModel

/// Writes a backup as a PAX tar: the description, the entries, and the manifest, without which it is no backup.
///
/// Until ``finish()`` the file has another name, which goes with this value.
public final class TarBackupSink: BackupSink {
    /// What is still to come of the entry that was begun last.
    struct Content {
        let kind: ManifestLine.Kind
        let entry: TarEntry
        /// Of a sealed file all of it.
        let data: [Range<Int64>]
        /// With the hole at the end.
        let length: Int64
        /// The piece that is next or under way, and where the next byte belongs.
        var piece = 0
        var position: Int64 = 0
    }

    let path: String
    let name: FileName
    let target: UnfinishedFile
    let spill: UnfinishedFile
    let output: HashedOutput
    private let writer: TarWriter
    private var order = WalkOrder()
    /// The class that each directory on the way to the last entry gives to what is made in it, the container's first.
    private var given: [ProtectionClass] = []
    var content: Content?
    /// The chain of the earlier backup, if this one continues one.
    var base: TarBase?
    private var isFinished = false

    /// Begins a backup.
    ///
    /// - Parameters:
    ///   - path: where the backup is to be; nothing may be there.
    ///   - apps: whose containers are in it.
    ///   - base: an earlier backup in this form. What has not changed since is then left out.
    public init(path: String, apps: [BackupApp], since base: String? = nil) throws(Complaint) {
        let absolute = try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            try HostPath.absolute(path)
        }
        guard let (parent, name) = HostPath.place(of: absolute) else {
            throw Complaint(.badRequest, "\(path) is no name for a file; name one for the backup")
        }
        (self.path, self.name) = (path, name)
        let isTaken = try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            try Descriptor.open(path: parent, flags: O_RDONLY | O_DIRECTORY).exists(name)
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
        try describe(BackupDescription(apps: apps, base: recorded))
    }

    static func taken(_ path: String) -> Complaint {
        Complaint(.fileExists, "\(path) is there already; choose another path, or remove it")
    }

    private func describe(_ description: BackupDescription) throws(Complaint) {
        let bytes = try judging(path) { () throws(BackupFlaw) in try description.encoded() }
        try begin(TarEntry(path: BackupDescription.path, length: Int64(bytes.count)), .file)
        try bytes.withSpan { bytes throws(Complaint) in try write(bytes, at: 0) }
        try endEntry()
    }

    func writing<Result>(_ body: () throws(SystemError) -> Result) throws(Complaint) -> Result {
        try Complaint.wrap("cannot write \(path)", body)
    }

    // MARK: Entries

    public func begin(_ entry: BackupEntry) throws(Complaint) {
        try endEntry()
        let path = try judging(self.path) { () throws(BackupFlaw) in
            try ArchivePath.bytes(entry.domain, entry.path)
        }
        let header = try judging(self.path) { () throws(BackupFlaw) in
            let given = try approach(entry, path)
            guard !entry.path.isEmpty || entry.kind == .directory else {
                throw BackupFlaw("cannot hold \(path.shown): a container is a directory")
            }
            return try TarEntry(entry, at: path, given: given)
        }
        enter(entry)
        try begin(header, ManifestLine.Kind(entry.kind))
    }

    private func begin(_ entry: TarEntry, _ kind: ManifestLine.Kind) throws(Complaint) {
        try writing { () throws(SystemError) in try writer.begin(entry) }
        if case .file(let length, let data) = entry.kind {
            content = Content(kind: kind, entry: entry, data: data, length: length)
        } else {
            content = Content(kind: kind, entry: entry, data: [], length: 0)
        }
    }

    /// Looks where an entry lies.
    /// - Returns: the class that the directory above it gives; a container's own directory has none above it.
    func approach(_ entry: BackupEntry, _ path: [UInt8]) throws(BackupFlaw) -> ProtectionClass {
        try order.requirePlace(of: entry.path, in: entry.domain, path)
        return entry.path.isEmpty ? .standard : given[entry.path.count - 1]
    }

    /// Takes an entry in, after ``approach(_:_:)`` found its place.
    func enter(_ entry: BackupEntry) {
        order.advance(to: entry.path, in: entry.domain, isDirectory: entry.kind == .directory)
        guard entry.kind == .directory else { return }
        given.removeSubrange(entry.path.count...)
        given.append(entry.protection ?? .standard)
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

    /// Passes over a part of a hole.
    private func skip(to offset: Int64) throws(Complaint) {
        guard let content, offset > content.position else { return }
        let end = content.piece < content.data.count ? content.data[content.piece].lowerBound : content.length
        guard offset <= end else { throw changed() }
        try writing { () throws(SystemError) in try writer.write(hole: offset - content.position) }
        self.content?.position = offset
    }

    /// Ends the entry that was begun last, of which all content has to be there.
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
        guard length <= Manifest.longest else {
            throw BackupFlaw("cannot hold so many entries; back up fewer apps at once").complaint(about: path)
        }
        do throws(SystemError) {
            try writer.begin(Manifest.entry(length: length))
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
