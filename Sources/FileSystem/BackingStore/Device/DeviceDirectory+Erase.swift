// Erasing a device's content, and deleting a device. Both can be interrupted anywhere and repeated.

public import DataProtection
import Glibc
import Platform
public import SandboxModel
import Synchronization

extension DeviceDirectory {
    /// Removes every app and container, and gives the device new keys. Settings and UUID stay.
    ///
    /// The new keys are written first, to a directory whose existence marks the erase as decided: the next ``lock()``
    /// finishes it. So no keybag ever meets another UID key.
    /// - Parameter makeKeybag: encodes a keybag for the new UID key.
    /// - Throws: errors of `makeKeybag`, after which nothing is erased; errors of the host.
    public func erase(
        holding lock: DeviceLock, makeKeybag: (UIDKey) throws(Complaint) -> [UInt8],
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let uidKey = UIDKey()
        let keybag = try makeKeybag(uidKey)
        // Settings that are not believed must not outlive the erase.
        _ = try self.uidKey()
        let authentication = RecordAuthentication(uidKey, device: uuid, isRequired: true)
        let record = authentication.sealed(try DeviceRecords.encode(self.record), Name.record)
        try Complaint.wrap("cannot erase \(path)") { () throws(SystemError) in
            let staging = try staging()
            let name = ContainerUUID().fileName
            try staging.makePrivateDirectory(name)
            let keys = try staging.openDirectory(name)
            try RecordFile(name: Name.uidKey).replace(with: uidKey.exported(), in: keys)
            try RecordFile(name: Name.keybag).replace(with: keybag, in: keys)
            try RecordFile(name: Name.record).replace(with: record, in: keys)
            try staging.rename(name, to: Name.erasing, in: root)
            try root.synchronizeEntries()
        }
        try finishErase()
        try Complaint.wrap("cannot remove what was erased from \(path)") { () throws(SystemError) in
            _ = try emptyStaging(progress: progress)
        }
    }

    /// Finishes an erase that was decided. Each step may have been done before.
    func finishErase() throws(Complaint) {
        let pending = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in
            try root.exists(Name.erasing)
        }
        guard pending else { return }
        try adoptKeysOfErase()
        // First: the registry names no container that is gone already.
        try replace(Name.apps, sealing: try DeviceRecords.encode(AppRegistry()))
        try replace(Name.sessions, sealing: try DeviceRecords.encode(SessionRecord()))
        try Complaint.wrap("cannot erase \(path)") { () throws(SystemError) in
            let staging = try staging()
            if try root.exists(Name.containers) {
                try root.rename(Name.containers, to: ContainerUUID().fileName, in: staging)
            }
            if try root.exists(Name.trash) {
                try root.rename(Name.trash, to: ContainerUUID().fileName, in: staging)
            }
            let keys = try root.openDirectory(Name.erasing)
            // A name that is missing here was moved by an interrupted call.
            for name in [Name.record, Name.keybag] where try keys.exists(name) {
                try keys.rename(name, to: name, in: root)
            }
            // The old key goes last: a record that a power cut brought back would have no key any more.
            try root.synchronizeEntries()
            if try keys.exists(Name.uidKey) { try keys.rename(Name.uidKey, to: Name.uidKey, in: root) }
            // The attempts at the old passcode.
            if try root.exists(Name.attempts) { try root.removeFile(Name.attempts) }
            for name in [Name.identity, Name.passwordKeybag] where try root.exists(name) { try root.removeFile(name) }
            try DeviceDirectory.makeContainerDirectories(in: root)
            // Events name files of the erased apps.
            for name in [Name.events, Name.olderEvents] where try root.exists(name) { _ = try root.removeTree(name) }
            try root.synchronizeEntries()
            // Last: this ends the erase. Where a power cut brings the name back, the erase is finished again: whatever
            // is put on the device synchronizes this directory first.
            try root.removeDirectory(Name.erasing)
        }
    }

    /// From here on records are authenticated under the key that the erase gives the device.
    private func adoptKeysOfErase() throws(Complaint) {
        let file = "\(path)/\(Name.erasing.text)/\(Name.uidKey.text)"
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try RecordFile(name: Name.uidKey).read(in: root.openDirectory(Name.erasing))
        }
        // Without one it was moved to its place by an interrupted call.
        let uidKey = bytes.flatMap { UIDKey($0) }
        guard uidKey != nil || bytes == nil else {
            throw Complaint(.damaged, "\(file) is damaged; restore it from a copy of the device")
        }
        let present = authentication.withLock { $0?.isRequired } ?? true
        let key: UIDKey
        if let uidKey { key = uidKey } else { key = try self.uidKey() }
        let next = RecordAuthentication(key, device: uuid, isRequired: present)
        authentication.withLock { $0 = next }
    }

    /// Removes the device. Device.json goes last, so that an interrupted `delete` can be repeated.
    ///
    /// - Parameter withStrangers: whether foreign files are removed as well.
    /// - Throws: ``Complaint`` of kind `notAllowed` if the directory contains foreign files.
    public func delete(
        holding lock: DeviceLock, withStrangers: Bool = false, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let names = try Complaint.wrap("cannot list \(path)") { () throws(SystemError) in
            try root.names { _ in true }
        }
        if !withStrangers, let stranger = names.first(where: { !DeviceDirectory.isOwn($0) }) {
            throw Complaint(
                .notAllowed, "\(path)/\(stranger.text) is not the device's; move it away, then delete the device")
        }
        var removed: Int64 = 0
        let first = names.filter { $0 != Name.record && $0 != Name.lock }
        for name in first + [Name.record, Name.lock] where names.contains(name) {
            let finished = try Complaint.wrap("cannot delete \(path)/\(name.text)") { () throws(SystemError) in
                try root.removeTree(name) { count in
                    removed += count
                    return progress(DeviceProgress(unit: .files, completed: removed, total: nil))
                }
            }
            guard finished else {
                throw Complaint(.unexpected, "cancelled; \(path) is deleted in part: delete it again")
            }
        }
        try Complaint.wrap("cannot delete \(path)") { () throws(SystemError) in try removeOwnName() }
    }

    /// Removes the directory itself, which is empty by now, wherever it lies: its path may lead to another one since.
    /// - Throws: ESTALE if it was moved meanwhile.
    private func removeOwnName() throws(SystemError) {
        let current = try HostPath.symbolicLinkTarget("/proc/self/fd/\(root.number)")
        guard let name = HostPath.place(of: current)?.name else { return }
        let parent = try root.openParent()
        guard try parent.status(of: name).identity == root.status().identity else { throw .stale }
        do throws(SystemError) {
            try parent.removeDirectory(name)
        } catch {
            // The root of a mounted filesystem stays.
            guard error == .busy else { throw error }
        }
    }

    /// Whether a name in the directory is a file of a device.
    private static func isOwn(_ name: FileName) -> Bool {
        let own = [
            Name.record, Name.apps, Name.sessions, Name.keybag, Name.uidKey, Name.passwordKeybag, Name.identity,
            Name.attempts, Name.lock, Name.staging, Name.trash, Name.containers, Name.erasing, Name.events,
            Name.olderEvents, Name.reserve,
        ]
        let text = name.text
        return own.contains(name) || text.hasPrefix("daemon.")
            || own.contains { text == ".\($0.text).new" } || text == ".daemon.json.new"
    }
}
