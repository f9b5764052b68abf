// The records that a device believes only if they carry its authentication code, and devices from before there were
// any.

import DataProtection
import Platform
import SandboxModel
import Synchronization

extension DeviceDirectory {
    // MARK: Opening

    /// Longest keys and longest Device.json that are read, in bytes.
    private static let longestKey = 4096
    static let longestRecord = 1 << 20

    static func notADevice(_ path: String) -> Complaint {
        Complaint(
            .notADevice, "\(path) is not a device: it has no \(Name.record.text); make one with appcontainer create")
    }

    /// Reads and checks Device.json.
    /// - Returns: without an authentication if the device has no UID key; every later call that needs it complains.
    /// - Throws: ``Complaint`` of kind `notADevice`, `newerFormat` or `damaged`, or with the host's error.
    static func believedRecord(
        in root: borrowing Descriptor, path: String
    ) throws(Complaint) -> (DeviceRecord, RecordAuthentication?) {
        // Once more if it is not believed: the process that has the device may have replaced its keys meanwhile.
        if let found = try? readRecord(in: root, path: path) { return found }
        return try readRecord(in: root, path: path)
    }

    private static func readRecord(
        in root: borrowing Descriptor, path: String
    ) throws(Complaint) -> (DeviceRecord, RecordAuthentication?) {
        let file = "\(path)/\(Name.record.text)"
        // Before the record: a process that gives an old device codes writes the keybag last.
        let keys = DeviceKeys(in: root)
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try RecordFile(name: Name.record).read(in: root, limit: longestRecord)
        }
        guard let bytes else { throw notADevice(path) }
        // Decoded once, before it is known to be authentic: the device's UUID is a part of the keys.
        let record = try decoded(bytes, file: file, path: path)
        guard record.settings.isPossible, ContainerUUID(record.uuid) != nil else { throw DeviceRecords.damaged(file) }
        guard !keys.uidKeys.isEmpty else { return (record, nil) }
        for uidKey in keys.uidKeys {
            let authentication = RecordAuthentication(uidKey, device: record.uuid, isRequired: keys.demandCodes)
            if authentication.content(of: bytes, Name.record) != nil { return (record, authentication) }
        }
        throw notAuthentic(file)
    }

    /// - Throws: ``Complaint`` of kind `newerFormat` or `damaged`.
    private static func decoded(_ bytes: [UInt8], file: String, path: String) throws(Complaint) -> DeviceRecord {
        let record = try? DeviceRecords.decode(DeviceRecord.self, from: bytes, file: file)
        // A newer version may have other fields.
        let format: Int
        if let record { format = record.format } else { format = try DeviceRecords.format(of: bytes, file: file) }
        guard format <= DeviceRecord.currentFormat else {
            throw Complaint(
                .newerFormat,
                "\(path) was made by a newer version (format \(format), this one knows "
                    + "\(DeviceRecord.currentFormat)); update appcontainer")
        }
        guard let record else { throw DeviceRecords.damaged(file) }
        return record
    }

    private static func notAuthentic(_ file: String) -> Complaint {
        Complaint(
            .damaged,
            "\(file) is damaged: it was not written by this device, or \(Name.uidKey.text) is another device's; "
                + "restore both from one copy of the device")
    }

    /// The UID keys that a device may have: its own, and the one that an unfinished erase gives it.
    private struct DeviceKeys {
        private(set) var uidKeys: [UIDKey] = []
        /// Whether records need a code: unless a keybag of one of these keys says that there are none yet.
        private(set) var demandCodes = true

        init(in root: borrowing Descriptor) {
            var keybags: [Keybag] = []
            read(root, &keybags)
            if let erasing = try? root.openDirectory(Name.erasing) { read(erasing, &keybags) }
            demandCodes = !keybags.contains { keybag in
                !keybag.demandsRecordCodes
                    && uidKeys.contains { (try? keybag.authenticate(uidKey: $0)) != nil }
            }
        }

        private mutating func read(_ directory: borrowing Descriptor, _ keybags: inout [Keybag]) {
            func bytes(_ name: FileName) -> [UInt8]? {
                try? RecordFile(name: name).read(in: directory, limit: longestKey)
            }
            if let uidKey = bytes(Name.uidKey).flatMap({ UIDKey($0) }) { uidKeys.append(uidKey) }
            if let keybag = bytes(Name.keybag).flatMap({ try? Keybag(decoding: $0) }) { keybags.append(keybag) }
        }
    }

    // MARK: Records

    /// - Throws: ``Complaint`` of kind `damaged` if the device has no UID key.
    private func requireAuthentication() throws(Complaint) -> RecordAuthentication {
        if let authentication = authentication.withLock({ $0 }) { return authentication }
        _ = try uidKey()
        throw Complaint(.damaged, "\(path)/\(Name.uidKey.text) was missing when the device was opened; try again")
    }

    /// The content of a record that carries an authentication code.
    /// - Returns: nil if there is no such record.
    /// - Throws: ``Complaint`` of kind `damaged` if it is not authentic.
    func believed(_ name: FileName, limit: Int = RecordFile.largest) throws(Complaint) -> [UInt8]? {
        let authentication = try requireAuthentication()
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try RecordFile(name: name).read(in: root, limit: limit)
        } catch {
            // No device writes one beyond the limit.
            guard error != .fileTooLarge else { throw DeviceRecords.damaged("\(path)/\(name.text)") }
            throw Complaint(error, doing: "cannot read \(path)/\(name.text)")
        }
        guard let bytes else { return nil }
        guard let content = authentication.content(of: bytes, name) else {
            throw DeviceDirectory.notAuthentic("\(path)/\(name.text)")
        }
        return content
    }

    /// Replaces a record that carries an authentication code, durably. The caller has the device's lock.
    func replace(_ name: FileName, sealing content: [UInt8]) throws(Complaint) {
        try replace(name, with: try requireAuthentication().sealed(content, name))
    }

    // MARK: Devices from before there were codes

    /// Gives the records of a device from before there were codes theirs, and then the keybag the version that demands
    /// them. A process that ends in between leaves a device that is taken for an old one again.
    func demandCodes() throws(Complaint) {
        guard let before = authentication.withLock({ $0 }), !before.isRequired else { return }
        // A damaged registry or a missing keybag is for whoever needs it to report.
        guard let registry = try? registry(), let bytes = try? keybag(), let old = try? Keybag(decoding: bytes) else {
            return
        }
        let uidKey = try uidKey()
        guard let keybag = try? old.upgraded(uidKey: uidKey) else { return }
        try replace(Name.apps, sealing: try DeviceRecords.encode(registry))
        if let sessions = try sessionRecord() {
            try replace(Name.sessions, sealing: try DeviceRecords.encode(sessions))
        }
        if let identity = try identity() { try replace(Name.identity, sealing: identity) }
        var record = record
        record.format = DeviceRecord.currentFormat
        try replace(with: record)
        try replace(Name.keybag, with: keybag.encoded())
        authentication.withLock { $0 = RecordAuthentication(uidKey, device: uuid, isRequired: true) }
    }
}
