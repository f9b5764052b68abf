// Exporting a device: all of it in one file, which can travel.

public import DeviceTemplate
import Glibc
public import Platform
public import SandboxModel
import TarFormat

extension DeviceDirectory {
    /// The records that a template has, in its order. Files of one run stay behind, as in a clone.
    static let templateRecords: [FileName] = [
        Name.apps, Name.record, Name.identity, Name.keybag, Name.passwordKeybag, Name.attempts, Name.sessions,
        Name.uidKey,
    ]

    /// Writes the device, which is shut down as the lock proves, into a template. The same device gives the same bytes.
    ///
    /// The template has the device's keys: all that the passcode protects is as safe as the passcode, and the rest can
    /// be read by anybody who has the template.
    /// - Parameters:
    ///   - file: a file or a pipe, written from where it is.
    ///   - name: of the file, for messages.
    /// - Throws: ``Complaint`` of kind `damaged`, `notAllowed`, `noSpace`; what was written is incomplete then.
    public func export(
        to file: SharedDescriptor, named name: String, holding lock: DeviceLock,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> TemplateFile {
        try finishUpdates(holding: lock)
        // Checked first: nobody could import a template of records that are not believed.
        _ = try recordsOfClone()
        let records = try templateRecords()
        let total = try Complaint.wrap("cannot look through \(path)") { () throws(SystemError) in
            try root.openDirectory(Name.containers).contentSize()
        }
        var written: Int64 = 0
        do throws(TreeExport.Failure) {
            let writer = try beginTemplate(file, with: records)
            var tree = TreeExport(from: try containersToExport(), at: [Name.containers], to: writer)
            let isWhole = try tree.run { count in
                written += count
                return progress(DeviceProgress(unit: .bytes, completed: min(written, total), total: total))
            }
            guard isWhole else { throw .cancelled }
            return try TreeExport.host { () throws(SystemError) in try writer.finish() }
        } catch {
            switch error {
            case .host(let error): throw Complaint(error, doing: "cannot export \(path) to \(name)")
            case .entry(let entry, let words):
                throw Complaint(.notAllowed, "no template holds \(words): \(path)/\(entry.shown)")
            case .cancelled: throw Complaint.cancelled
            }
        }
    }

    /// The records as they are stored. One that the device does not have is left out.
    private func templateRecords() throws(Complaint) -> [(FileName, [UInt8])] {
        var records: [(FileName, [UInt8])] = []
        for name in DeviceDirectory.templateRecords {
            let bytes = try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
                try RecordFile(name: name).read(in: root)
            }
            if let bytes { records.append((name, bytes)) }
        }
        return records
    }

    private func beginTemplate(
        _ file: SharedDescriptor, with records: [(FileName, [UInt8])]
    ) throws(TreeExport.Failure) -> TemplateWriter {
        try TreeExport.host { () throws(SystemError) in
            let status = try root.status()
            let writer = try TemplateWriter(file, owner: status.owner, group: status.group)
            for (name, bytes) in records {
                var entry = TarEntry(path: Array(name.bytes), length: 0)
                (entry.owner, entry.group) = (status.owner, status.group)
                try writer.add(entry, content: bytes)
            }
            return writer
        }
    }

    private func containersToExport() throws(TreeExport.Failure) -> Descriptor {
        try TreeExport.host { () throws(SystemError) in try root.openDirectory(Name.containers) }
    }
}
