// Importing a template: a device that is built beside its place, and believed only when it is whole.

public import DeviceTemplate
import Glibc
import Platform
public import SandboxModel
import TarFormat

extension DeviceDirectory {
    /// Makes a device from a template. It has the content, keys and passcode of the exported one, and a UUID of its
    /// own.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 that the template's file has to have; nil for any.
    ///   - newPath: a path where nothing is, or an empty directory.
    /// - Throws: ``Complaint`` of kind `invalidTemplate`, `newerFormat`, `deviceExists`, `noSpace`, …; nothing is left
    ///   behind.
    public static func importTemplate(
        _ reader: TemplateReader, expecting digest: [UInt8]? = nil, to newPath: String,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let place = try DevicePlace.at(newPath)
        try place.build { (directory) throws(Complaint) in
            let owners = FileOwners(importedFrom: reader.owner, group: reader.group)
            let first = try importRecords(reader, to: directory)
            guard let first else { throw reader.origin.complaint(.noContainers) }
            let root = try Complaint.wrap("cannot create \(newPath)") { () throws(SystemError) in
                for name in [Name.staging, Name.trash] { try directory.makePrivateDirectory(name) }
                try RecordFile(name: Name.lock).replace(with: [], in: directory)
                return try directory.duplicate()
            }
            var made: Int64 = 0
            var tree = TreeImport(reader, to: root, owners: owners)
            let isWhole = try tree.run(from: first) { count in
                made += count
                return progress(DeviceProgress(unit: .bytes, completed: made, total: nil))
            }
            guard isWhole else { throw Complaint.cancelled }
            let found = try reader.finish()
            // From here on the template is whole, and the one that the caller has named, if any.
            if let digest, digest != found { throw reader.origin.complaint(.otherDigest(found)) }
            try adoptRecords(in: directory, from: reader.origin, owners)
        }
    }

    /// Reads the records, which come first, and stores them as they are.
    /// - Returns: the entry behind them.
    static func importRecords(
        _ reader: TemplateReader, to directory: borrowing Descriptor
    ) throws(Complaint) -> TarEntry? {
        var rest = templateRecords[...]
        while let entry = try reader.next() {
            guard let index = rest.firstIndex(where: { Array($0.bytes) == entry.path }) else { return entry }
            let name = rest[index]
            guard case .file(let length, _) = entry.kind, length <= Int64(RecordFile.largest) else {
                throw reader.origin.complaint(.records)
            }
            let bytes = try reader.content(length)
            try Complaint.wrap("cannot write \(name.text)") { () throws(SystemError) in
                try RecordFile(name: name).replace(with: bytes, in: directory)
            }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    /// Replaces the records by those of a device of another UUID, if they are those of one device.
    private static func adoptRecords(
        in directory: borrowing Descriptor, from origin: ArchiveOrigin, _ owners: FileOwners
    ) throws(Complaint) {
        let path = origin.name
        do throws(Complaint) {
            let root: Descriptor
            do throws(SystemError) {
                guard try isDevice(directory), try directory.exists(Name.keybag) else { throw .notRecord }
                try makeContainerDirectories(in: directory)
                root = try directory.duplicate()
            } catch {
                // A link or a file where a device has a directory.
                let isOther = error == .notDirectory || error == .tooManySymbolicLinks
                throw isOther ? origin.complaint(.records) : Complaint(error, doing: "cannot open \(path)")
            }
            let (record, authentication) = try believedRecord(in: root, path: path)
            let device = DeviceDirectory(path: path, root: root, record: record, authentication: authentication)
            let records = try device.recordsOfClone(owners.registry)
            try Complaint.wrap("cannot write the records of a device") { () throws(SystemError) in
                for name in [Name.sessions, Name.identity, Name.passwordKeybag] where try directory.exists(name) {
                    try directory.removeFile(name)
                }
                for (name, bytes) in records.others + [(Name.record, records.device)] {
                    try RecordFile(name: name).replace(with: bytes, in: directory)
                }
            }
        } catch {
            guard error.kind != .damaged else { throw origin.complaint(.records) }
            throw error
        }
    }
}

extension ArchiveFlaw {
    fileprivate static let records = ArchiveFlaw("has records that are not those of one device; use another copy of it")
    fileprivate static let noContainers = ArchiveFlaw("has no containers; use another copy of it")
}
