// Cloning a device: a second one with the same content and a UUID of its own.

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
        let total =
            counting
            ? try Complaint.wrap("cannot look through \(path)") { () throws(SystemError) in
                try root.openDirectory(Name.containers).contentSize()
            } : nil
        // The original's filesystem was probed when it was created.
        try place.build(provenOn: try? root.status().raw.st_dev) { (directory) throws(Complaint) in
            let failure = "cannot clone \(path) to \(place.path)"
            let finished = try Complaint.wrap(failure) { () throws(SystemError) in
                for name in [Name.apps, Name.sessions, Name.keybag, Name.uidKey, Name.lock] {
                    let bytes = try RecordFile(name: name).read(in: root) ?? []
                    try RecordFile(name: name).replace(with: bytes, in: directory)
                }
                // Copied, because a clone must not give new guesses at the passcode.
                for name in [Name.attempts, Name.identity] {
                    guard let bytes = try RecordFile(name: name).read(in: root) else { continue }
                    try RecordFile(name: name).replace(with: bytes, in: directory)
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
            var record = self.record
            record.uuid = ContainerUUID().text
            let bytes = try DeviceRecords.encode(record)
            try Complaint.wrap(failure) { () throws(SystemError) in
                try RecordFile(name: Name.record).replace(with: bytes, in: directory)
            }
        }
    }
}
