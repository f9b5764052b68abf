// One container being written into a backup: files of the host become entries.

import BackingStore
import BackupModel
import BundleSeal
import Glibc
import Platform
import SandboxModel

/// The tally and the progress of a backup, which pass from container to container.
struct BackupWork {
    var tally = BackupTally()
    var meter: BackupMeter

    /// - Parameter measure: counts the bytes of the host that the backup will come to.
    init(measure: @escaping () -> Int64) {
        meter = BackupMeter(measure: measure)
    }
}

/// The progress of a backup, in bytes of the host.
struct BackupMeter {
    private let measure: () -> Int64
    private let begin = ContinuousClock.now
    private var total: Int64?
    private var done: Int64 = 0

    /// - Parameter measure: counts the bytes of the host. Called only when the backup has taken a second: a short one
    ///   needs no total.
    init(measure: @escaping () -> Int64) {
        self.measure = measure
    }

    mutating func advance(_ bytes: Int64, _ progress: (DeviceProgress) -> Bool) -> Bool {
        done += bytes
        if total == nil, ContinuousClock.now - begin > .seconds(1) { total = measure() }
        return progress(DeviceProgress(unit: .bytes, completed: min(done, total ?? done), total: total))
    }
}

/// Writes what the walk through a container comes to into a sink.
struct ContainerBackup {
    private(set) var work: BackupWork
    private let domain: BackupDomain
    private let reader: BackupReader
    private let order: BackupOrder
    private let container: SharedDescriptor
    /// Of each file with several names: the path of its first entry and the number of names to come.
    private var firstNames: [UInt64: (path: [FileName], left: UInt64)] = [:]

    /// - Parameter work: as the containers before have left it.
    init(_ container: BackedUpContainer, _ reader: BackupReader, _ order: BackupOrder, _ work: BackupWork) {
        domain = container.domain
        self.container = container.directory
        self.reader = reader
        self.order = order
        self.work = work
    }

    /// Writes what the walk came to. A device, and an entry that went meanwhile, are left out.
    /// - Parameter progress: bytes of the host; false cancels.
    /// - Throws: ``Complaint/cancelled``, ``Complaint`` of kind `damaged`, or what the sink throws.
    mutating func add(
        _ place: ContainerPlace, to sink: inout some BackupSink, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        guard place.status.kind == .file else {
            guard let kind = try kind(of: place) else { return }
            let (protection, attributes) = try attributes(of: place)
            let entry = entry(place, kind, protection: protection, attributes: attributes)
            if try !isContinued(entry, in: &sink) { try sink.begin(entry) }
            return try advance(0, progress)
        }
        work.tally.files += 1
        // The content goes in once, with the first name; further names are hard links to it.
        if place.status.linkCount > 1, let first = firstName(of: place) {
            let entry = entry(place, .hardLink(first), protection: nil, attributes: [])
            if try !isContinued(entry, in: &sink) { try sink.begin(entry) }
            return try advance(place.status.size, progress)
        }
        guard let file = try BackupFile(place, reader) else {
            forgetFirstName(of: place)
            work.tally.files -= 1
            return
        }
        try add(file, at: place, to: &sink, progress: progress)
    }

    /// Writes a file's entry and content, unless the earlier backup has both.
    private mutating func add(
        _ file: BackupFile, at place: ContainerPlace, to sink: inout some BackupSink,
        progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        if case .sealed = file.content { work.tally.sealed += 1 }
        work.tally.bytes += file.content.length
        let (_, attributes) = try attributes(of: place)
        var found = entry(place, .file(file.content), protection: file.protection, attributes: attributes)
        found.modificationTime = file.modificationTime
        let entry = found
        // The closures below cannot change this value.
        var meter = work.meter
        defer { work.meter = meter }
        func goOn() -> Bool { meter.advance(0, progress) }
        let isContinued = try isContinued(entry, in: &sink, goOn: goOn) { () throws(Complaint) in
            try digest(of: file, as: entry, goOn)
        }
        if isContinued {
            work.tally.continued += 1
            guard meter.advance(place.status.size, progress) else { throw Complaint.cancelled }
            return
        }
        try sink.begin(entry)
        // Pieces are of the content, the meter's bytes are of the backing file: the rest is added at the end.
        var remaining = place.status.size
        let finished = try file.read(as: entry) { (bytes, offset) throws(Complaint) in
            try sink.write(bytes, at: offset)
            let step = min(remaining, Int64(bytes.byteCount))
            remaining -= step
            return meter.advance(step, progress)
        }
        guard finished, meter.advance(remaining, progress) else { throw Complaint.cancelled }
    }

    /// Whether the earlier backup has the entry already, so that the sink takes it over from there.
    /// - Parameters:
    ///   - goOn: false cancels.
    ///   - digest: of the content; called only where the sink cannot decide without it.
    private func isContinued(
        _ entry: BackupEntry, in sink: inout some BackupSink, goOn: () -> Bool = { true },
        digest: () throws(Complaint) -> [UInt8]? = { nil }
    ) throws(Complaint) -> Bool {
        guard order.isIncremental else { return false }
        return try sink.continues(entry, goOn: goOn, digest: digest)
    }

    /// - Throws: ``Complaint/cancelled``.
    private mutating func advance(_ bytes: Int64, _ progress: (DeviceProgress) -> Bool) throws(Complaint) {
        guard work.meter.advance(bytes, progress) else { throw Complaint.cancelled }
    }

    // MARK: Entries

    /// An entry with the status of a place.
    private func entry(
        _ place: ContainerPlace, _ kind: BackupEntry.Kind, protection: ProtectionClass?,
        attributes: [BackupEntry.Attribute]
    ) -> BackupEntry {
        BackupEntry(
            domain: domain, path: place.path, kind: kind, permissions: reader.permissions(of: place),
            owner: place.status.owner, group: place.status.group, modificationTime: place.status.modificationTime,
            protection: protection, isExcluded: place.isMarked, attributes: attributes)
    }

    /// - Returns: nil for a symbolic link that went meanwhile, and for a device.
    private func kind(of place: ContainerPlace) throws(Complaint) -> BackupEntry.Kind? {
        switch place.status.kind {
        case .directory: return .directory
        case .fifo: return .fifo
        case .socket: return .socket
        case .symbolicLink:
            guard let parent = place.parent, let name = place.name else { return nil }
            do throws(SystemError) {
                return .symbolicLink(try parent.descriptor.symbolicLinkTarget(name))
            } catch {
                guard error != .noEntry, error != .invalid else { return nil }
                throw Complaint(error, doing: reader.doing(place))
            }
        case .file, .device: return nil
        }
    }

    private static let mark = Array(BackupMark.attributeName.utf8)
    private static let classAttribute = Array(ProtectionClass.attributeName.utf8)

    /// The extended attributes that an app has set on a file or directory, and the class that a directory gives.
    private func attributes(
        of place: ContainerPlace
    ) throws(Complaint) -> (protection: ProtectionClass?, [BackupEntry.Attribute]) {
        guard place.status.kind == .file || place.status.kind == .directory else { return (nil, []) }
        var found: [BackupEntry.Attribute] = []
        var protection: ProtectionClass?
        do throws(SystemError) {
            let holder = place.attributes
            for name in try holder.names() where name.starts(with: "user.".utf8) && name != ContainerBackup.mark {
                if name == ContainerBackup.classAttribute, place.status.kind == .directory {
                    // A value that names none of the four counts as the strictest.
                    protection = ProtectionClass(attributeValue: try holder.value(of: name)) ?? .complete
                }
                guard !name.starts(with: BackupEntry.Attribute.reservedPrefix) else { continue }
                found.append(BackupEntry.Attribute(name: name, value: try holder.value(of: name)))
            }
        } catch {
            guard error != .noEntry, error != .noAttribute else { return (protection, []) }
            throw Complaint(error, doing: reader.doing(place))
        }
        return (protection, found.sorted { $0.name.lexicographicallyPrecedes($1.name) })
    }

    /// - Returns: nil where this is the first name of the file that was come to.
    private mutating func firstName(of place: ContainerPlace) -> [FileName]? {
        let inode = place.status.inode
        guard let known = firstNames[inode], leads(known.path, to: place.status) else {
            firstNames[inode] = (place.path, place.status.linkCount - 1)
            return nil
        }
        firstNames[inode] = known.left > 1 ? (known.path, known.left - 1) : nil
        return known.path
    }

    /// Whether a path still leads to a file. When a file has gone, the number of its inode may be that of another.
    private func leads(_ path: [FileName], to status: FileStatus) -> Bool {
        do throws(SystemError) {
            let parent = try container.descriptor.openDirectory(at: path.dropLast())
            return try parent.status(of: path[path.count - 1]).identity == status.identity
        } catch {
            return !ContainerWalk.isGone(error)
        }
    }

    /// The file has gone before its content was written: no further name may refer to it.
    private mutating func forgetFirstName(of place: ContainerPlace) {
        firstNames[place.status.inode] = nil
    }

    /// SHA-256 of the content, holes as zeros.
    /// - Parameter goOn: answers whether to go on.
    private func digest(of file: BackupFile, as entry: BackupEntry, _ goOn: () -> Bool) throws(Complaint) -> [UInt8]? {
        let digest = ContentDigest(length: file.content.length)
        let finished = try file.read(as: entry) { (bytes, offset) throws(Complaint) in
            digest.add(bytes, at: offset)
            return goOn()
        }
        guard finished else { throw Complaint.cancelled }
        return digest.finish()
    }
}
