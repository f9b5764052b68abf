// Records in JSON, one file for each, in a directory that one process has.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Synchronization

/// A record that has a file of its own.
protocol StoredRecord: Codable, Sendable {
    /// The newest format. Raised with every change that an older version could not read, or would undo.
    static var currentFormat: Int { get }
    /// The thing that is recorded, for messages: "volume".
    static var noun: String { get }
    var format: Int { get }
    /// The name of the file without its suffix: that of a ``VolumeName``.
    var name: String { get }
}

/// The records of a directory, read once: nobody else writes them.
///
/// Lock: of the table, a leaf, for moments only. Two calls on one record are for the caller to keep apart.
final class RecordTable<Record: StoredRecord>: Sendable {
    private enum Known {
        case record(Record)
        case unreadable(Complaint)
    }

    private let directory: SharedDescriptor
    /// Of the directory, for messages.
    private let path: String
    /// By name.
    private let all = Mutex<[String: Known]>([:])

    private let suffix = ".json"
    /// Bytes of a file that is read.
    private let longest = 1 << 20

    /// Reads all records, and removes those that were half written. One that cannot be read is told when it is asked
    /// for.
    init(_ directory: SharedDescriptor, path: String) throws(Complaint) {
        (self.directory, self.path) = (directory, path)
        let files = try Complaint.wrap("cannot list \(path)") { () throws(SystemError) in
            try directory.descriptor.names { _ in true }
        }
        for file in files where RecordFile.isRemains(file) { try? directory.descriptor.removeFile(file) }
        for file in files where file.text.hasSuffix(suffix) {
            let name = String(file.text.dropLast(suffix.count))
            guard (try? VolumeName(name)) != nil else { continue }
            let known: Known
            do throws(Complaint) { known = .record(try read(name)) } catch { known = .unreadable(error) }
            all.withLock { $0[name] = known }
        }
    }

    private func file(_ name: String) -> RecordFile { RecordFile(name: FileName(name + suffix)!) }

    private func read(_ name: String) throws(Complaint) -> Record {
        let place = "\(path)/\(name)\(suffix)"
        let bytes = try Complaint.wrap("cannot read \(place)") { () throws(SystemError) in
            try file(name).read(in: directory.descriptor, limit: longest) ?? []
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)), record.name == name else {
            throw Complaint(.damaged, "\(place) is damaged; remove it, and the \(Record.noun) is gone")
        }
        guard record.format <= Record.currentFormat else {
            throw Complaint(.newerFormat, "\(place) was made by a newer version; update appcontainer")
        }
        return record
    }

    /// - Returns: nil where there is none of this name.
    /// - Throws: ``Complaint`` of kind `damaged` or `newerFormat` where it could not be read.
    func record(_ name: String) throws(Complaint) -> Record? {
        switch all.withLock({ $0[name] }) {
        case .record(let record): return record
        case .unreadable(let complaint): throw complaint
        case nil: return nil
        }
    }

    /// Makes or replaces a record, durably.
    func write(_ record: Record) throws(Complaint) {
        let doing = "cannot write the record of the \(Record.noun) \(record.name)"
        let bytes: [UInt8]
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            bytes = Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
        } catch {
            throw Complaint(.unexpected, "\(doing): \(error)")
        }
        try Complaint.wrap(doing) { () throws(SystemError) in
            try file(record.name).replace(with: bytes, in: directory.descriptor)
        }
        all.withLock { $0[record.name] = .record(record) }
    }

    /// Removes a record, durably. A missing one is no error.
    func remove(_ name: String) throws(Complaint) {
        try Complaint.wrap("cannot remove the record of the \(Record.noun) \(name)") { () throws(SystemError) in
            let file = FileName(name + suffix)!
            if try directory.descriptor.exists(file) { try directory.descriptor.removeFile(file) }
            try directory.descriptor.synchronizeEntries()
        }
        _ = all.withLock { $0.removeValue(forKey: name) }
    }

    /// All records that could be read, by name.
    var records: [Record] {
        all.withLock { all in
            all.values.compactMap { if case .record(let record) = $0 { record } else { nil } }
        }.sorted { $0.name < $1.name }
    }

    /// Whether nothing is known of some record, so that nothing may be taken for nobody's.
    var hasUnreadable: Bool {
        all.withLock { all in all.values.contains { if case .unreadable = $0 { true } else { false } } }
    }
}
