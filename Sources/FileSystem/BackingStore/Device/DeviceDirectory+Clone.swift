// Cloning a device: a second one with the same content and a UUID of its own.

import DataProtection
import Glibc
import Platform
public import SandboxModel

extension DeviceDirectory {
    /// Copies the device, which is shut down as the lock proves, to a path where nothing is.
    ///
    /// Times, modes, owners, attributes, hard links and holes are kept. Content is shared or copied inside the host if
    /// it can. Files of one run (daemon.json, the log, the record of events, unfinished work) are left out.
    ///
    /// - Parameter counting: whether `progress` gets the total, for which the whole tree is walked before the copy.
    /// - Throws: ``Complaint`` of kind `deviceExists`, `noSpace`, …; nothing that looks like a device is left behind.
    public func clone(
        to newPath: String, holding lock: DeviceLock, counting: Bool = true,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let place = try DevicePlace.at(newPath)
        try finishUpdates(holding: lock)
        let records = try recordsOfClone()
        let total =
            counting
            ? try Complaint.wrap("cannot look through \(path)") { () throws(SystemError) in
                try root.openDirectory(Name.containers).contentSize()
            } : nil
        // The original's filesystem was probed when it was created.
        try place.build(provenOn: try? root.status().raw.st_dev) { (directory) throws(Complaint) in
            let failure = "cannot clone \(path) to \(place.path)"
            let finished = try Complaint.wrap(failure) { () throws(SystemError) in
                for (name, bytes) in records.others { try RecordFile(name: name).replace(with: bytes, in: directory) }
                for name in [Name.keybag, Name.uidKey, Name.lock] {
                    let bytes = try RecordFile(name: name).read(in: root) ?? []
                    try RecordFile(name: name).replace(with: bytes, in: directory)
                }
                // Copied, because a clone must not give new guesses at the passcode.
                if let bytes = try RecordFile(name: Name.attempts).read(in: root) {
                    try RecordFile(name: Name.attempts).replace(with: bytes, in: directory)
                }
                try directory.makePrivateDirectory(Name.staging)
                try directory.makePrivateDirectory(Name.trash)
                try directory.makePrivateDirectory(Name.containers)
                var copy = TreeCopy(
                    from: try root.openDirectory(Name.containers), to: try directory.openDirectory(Name.containers))
                var copied: Int64 = 0
                return try copy.run { count in
                    copied += count
                    return progress(DeviceProgress(unit: .bytes, completed: min(copied, total ?? copied), total: total))
                }
            }
            guard finished else { throw Complaint.cancelled }
            try Complaint.wrap(failure) { () throws(SystemError) in
                try RecordFile(name: Name.record).replace(with: records.device, in: directory)
            }
        }
    }

    /// The record of the backup password; nil for a damaged one too, under which the clone could open nothing.
    private func soundPasswordKeybag() throws(Complaint) -> PasswordKeybag? {
        do throws(Complaint) {
            return try passwordKeybag()
        } catch {
            guard error.kind == .damaged else { throw error }
            return nil
        }
    }

    /// The records that carry authentication codes, with those of a device of another UUID. A record of sessions that
    /// is not believed is left out: the clone finds it missing, as this device would.
    /// - Parameter change: of the registry.
    /// - Throws: ``Complaint`` of kind `damaged`.
    func recordsOfClone(
        _ change: (AppRegistry) -> AppRegistry = { $0 }
    ) throws(Complaint) -> (device: [UInt8], others: [(FileName, [UInt8])]) {
        var record = self.record
        record.uuid = ContainerUUID().text
        record.settings.day = record.settings.day?.ofClone
        let authentication = RecordAuthentication(try uidKey(), device: record.uuid, isRequired: true)
        var others = [(Name.apps, try DeviceRecords.encode(change(try registry())))]
        if let sessions = try sessionRecord() { others.append((Name.sessions, try DeviceRecords.encode(sessions))) }
        if let identity = try identity() { others.append((Name.identity, identity)) }
        if let keybag = try soundPasswordKeybag() { others.append((Name.passwordKeybag, keybag.encoded())) }
        return (
            authentication.sealed(try DeviceRecords.encode(record), Name.record),
            others.map { ($0, authentication.sealed($1, $0)) }
        )
    }
}
