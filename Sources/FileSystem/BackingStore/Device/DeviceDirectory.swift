// The device directory: its files, its lock and its records.

public import DataProtection
import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// A directory of the host that holds a device: its keys, its records, every app and its containers.
///
/// Any thread may read the records. Changing one takes the ``DeviceLock``, and one thread at a time. A changed record
/// is durable when the call returns.
public final class DeviceDirectory: Sendable {
    /// The directory as the user named it, for messages.
    public let path: String
    /// The directory, open for reading.
    public let root: Descriptor
    /// The device's UUID. A clone has another.
    public let uuid: String
    /// When the device was created: ISO 8601, in UTC.
    public let created: String
    /// As on disk. The lock is a leaf.
    private let currentRecord: Mutex<DeviceRecord>
    /// Held while Device.json is replaced. Below it `currentRecord` and `authentication` only.
    private let recordChanges = Mutex(())
    /// Of the records that carry codes; nil without a UID key. The lock is a leaf.
    let authentication: Mutex<RecordAuthentication?>
    /// The record of sessions, as the session that this process began left it. The lock is a leaf.
    let begunSession = Mutex<SessionRecord?>(nil)

    /// The entries of the directory. A new one belongs in `isOwn` too: `delete` refuses to remove foreign files.
    public enum Name {
        /// The file that makes a directory a device.
        public static let record: FileName = "Device.json"
        public static let apps: FileName = "Apps.json"
        public static let sessions: FileName = "Sessions.json"
        public static let keybag: FileName = "Keybag"
        public static let uidKey: FileName = "UID.key"
        /// The class keys under the backup password; missing without one.
        public static let passwordKeybag: FileName = "PasswordKeybag"
        /// The identity with which the device signs unsigned apps.
        public static let identity: FileName = "Identity.pem"
        public static let attempts: FileName = "Passcode.json"
        public static let lock: FileName = "lock"
        public static let staging: FileName = "Staging"
        /// Purged entries that are being removed.
        public static let trash: FileName = "Trash"
        /// See ``RecordReserve``.
        public static let reserve: FileName = "Reserve"
        public static let containers: FileName = "Containers"
        /// Holds the new keys during an erase.
        public static let erasing: FileName = "Erasing"
        public static let daemonRecord: FileName = "daemon.json"
        public static let daemonLog: FileName = "daemon.log"
        /// The record of events, and its older part.
        public static let events: FileName = "Events.jsonl"
        public static let olderEvents: FileName = "Events.1.jsonl"
    }

    init(path: String, root: consuming Descriptor, record: DeviceRecord, authentication: RecordAuthentication?) {
        self.path = path
        self.root = root
        uuid = record.uuid
        created = record.created
        currentRecord = Mutex(record)
        self.authentication = Mutex(authentication)
    }

    /// The content of `Device.json`.
    var record: DeviceRecord { currentRecord.withLock { $0 } }

    public var settings: DeviceSettings { record.settings }

    /// Changes settings. Durable on return.
    /// - Throws: the host's error; the settings are as before.
    public func changeSettings(
        holding lock: DeviceLock, _ change: (inout DeviceSettings) -> Void
    ) throws(Complaint) {
        try changeRecord { record in
            change(&record.settings)
            if record.settings.needsFormat4 { record.format = DeviceRecord.currentFormat }
        }
    }

    private func changeRecord(_ change: (inout DeviceRecord) -> Void) throws(Complaint) {
        try recordChanges.withLock { _ throws(Complaint) in
            var record = record
            change(&record)
            try replace(with: record)
        }
    }

    /// Keeps older versions away from the device, which would undo what they do not know.
    func raiseFormat() throws(Complaint) {
        guard record.format < DeviceRecord.currentFormat else { return }
        try changeRecord { $0.format = DeviceRecord.currentFormat }
    }

    func replace(with record: DeviceRecord) throws(Complaint) {
        try replace(Name.record, sealing: try DeviceRecords.encode(record))
        currentRecord.withLock { $0 = record }
    }

    /// Opens a device for reading, without its lock. A process of the superuser acts as the device's owner from then
    /// on, where that is another user whom it trusts (``DeviceOwner``).
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice`, `foreignOwner`, `newerFormat` or `damaged`.
    public static func open(at path: String) throws(Complaint) -> DeviceDirectory {
        guard !path.isEmpty else {
            throw Complaint(.deviceMissing, "an empty path names no device; name the device's directory")
        }
        let path = HostPath.withoutTrailingSlashes(path)
        let place = try openPlace(path)
        try DeviceOwner.admit(place, at: path)
        let root = try Complaint.wrap("cannot open \(path)") { () throws(SystemError) in
            try place.reopen(flags: O_RDONLY | O_DIRECTORY)
        }
        let (record, authentication) = try believedRecord(in: root, path: path)
        return DeviceDirectory(path: path, root: root, record: record, authentication: authentication)
    }

    /// To be looked at: a directory that a link leads to may be of another user, and is not opened.
    private static func openPlace(_ path: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor.openDirectory(path: path)
        } catch {
            switch error {
            case .noEntry:
                throw Complaint(
                    .deviceMissing, "\(path) does not exist; make a device with: appcontainer create \(path)")
            case .notDirectory:
                throw Complaint(
                    .notADevice, "\(path) is not a directory, and a device is one; make one with appcontainer create")
            default:
                throw Complaint(error, doing: "cannot open \(path)")
            }
        }
    }

    /// Whether a directory is a device, by two files, because other programs have a Device.json too.
    public static func isDevice(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        guard try directory.exists(Name.record) else { return false }
        return try directory.exists(Name.uidKey)
    }

    /// The path of the device at or above a path, as ``isDevice(_:)`` recognizes it.
    /// - Parameter path: a path without symbolic links.
    /// - Returns: nil if the path is in no device.
    public static func around(_ path: String) -> String? {
        HostPath.withAncestors(path).first { place in
            [Name.record, Name.uidKey].allSatisfy { name in
                (try? HostPath.status("\(place)/\(name.text)", following: false)) != nil
            }
        }
    }

    // MARK: The lock

    /// Takes the device's lock for this process, finishes an interrupted erase, and gives the records of a device from
    /// before there were authentication codes theirs. Without a UID key neither is possible.
    /// - Throws: ``Complaint`` of kind `deviceBusy` if another process has the lock.
    public func lock() throws(Complaint) -> DeviceLock {
        let file = try Complaint.wrap("cannot lock \(path)") { () throws(SystemError) -> Descriptor? in
            let file = try root.openRecord(Name.lock, flags: O_RDWR | O_CREAT, mode: 0o600)
            guard try file.tryLock() else { return nil }
            return file
        }
        guard let file else {
            throw Complaint(.deviceBusy, "\(path) is in use; shut it down with: appcontainer shutdown \(path)")
        }
        let lock = DeviceLock(file)
        guard authentication.withLock({ $0 != nil }) else { return lock }
        try finishErase()
        try demandCodes()
        return lock
    }

    /// Whether a process has the device's lock now.
    public var isLocked: Bool {
        guard let file = try? root.openRecord(Name.lock, flags: O_RDWR) else { return false }
        return (try? file.tryLock()) == false
    }

    /// Waits until no other process starts this device's process or copies the device.
    /// - Returns: a reference that makes others wait until it is released.
    public func takeTurn() throws(Complaint) -> SharedDescriptor {
        try Complaint.wrap("cannot lock \(path)") { () throws(SystemError) in
            let directory = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
            try directory.lock()
            return SharedDescriptor(directory)
        }
    }

    // MARK: Keys

    /// The key that stands for the one in a phone's processor.
    /// - Throws: ``Complaint`` of kind `damaged` if it is missing or invalid.
    public func uidKey() throws(Complaint) -> UIDKey {
        let file = "\(path)/\(Name.uidKey.text)"
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try RecordFile(name: Name.uidKey).read(in: root)
        }
        guard let key = bytes.flatMap({ UIDKey($0) }) else {
            throw Complaint(
                .damaged,
                "\(file) is \(bytes == nil ? "missing" : "damaged"), and no file of the device can ever be read again "
                    + "without it; restore it from a copy of the device")
        }
        return key
    }

    /// The encoded keybag.
    public func keybag() throws(Complaint) -> [UInt8] {
        try read(Name.keybag)
    }

    public func replaceKeybag(with bytes: [UInt8], holding lock: DeviceLock) throws(Complaint) {
        try replace(Name.keybag, with: bytes)
    }

    // MARK: The device's own identity

    /// The identity with which the device signs unsigned apps, as PEM; nil before the first of them.
    /// - Throws: ``Complaint`` of kind `damaged` if another device made it.
    public func identity() throws(Complaint) -> [UInt8]? {
        try believed(Name.identity, limit: 1 << 20)
    }

    public func replaceIdentity(with pem: [UInt8], holding lock: DeviceLock) throws(Complaint) {
        try replace(Name.identity, sealing: pem)
    }

    // MARK: Records

    /// Every installed app, by identifier.
    public func apps() throws(Complaint) -> [InstalledApp] { try registry().apps }

    /// - Throws: ``Complaint`` of kind `damaged`.
    public func registry() throws(Complaint) -> AppRegistry {
        guard let bytes = try believed(Name.apps) else { throw missing(Name.apps) }
        return try DeviceRecords.registry(from: bytes, file: "\(path)/\(Name.apps.text)")
    }

    /// Replaces the registry: at that instant an app is installed, or uninstalled.
    /// - Throws: ``Complaint`` of kind `unexpected` for one that could not be read back: the next boot would refuse the
    ///   device.
    public func replaceRegistry(_ registry: AppRegistry, holding lock: DeviceLock) throws(Complaint) {
        let content = try DeviceRecords.readable(registry, file: "\(path)/\(Name.apps.text)")
        // First: an older version would drop the signatures.
        if registry.apps.contains(where: { $0.signature != nil }) { try raiseFormat() }
        try replace(Name.apps, sealing: content)
    }

    /// Reads a record that every device has.
    /// - Throws: ``Complaint`` of kind `damaged` if it is missing.
    func read(_ name: FileName) throws(Complaint) -> [UInt8] {
        let bytes = try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
            try RecordFile(name: name).read(in: root)
        }
        guard let bytes else {
            throw missing(name)
        }
        return bytes
    }

    private func missing(_ name: FileName) -> Complaint {
        Complaint(.damaged, "\(path)/\(name.text) is missing; restore it from a copy of the device")
    }

    /// Replaces a record, durably (``RecordFile``). The caller has the device's lock.
    /// - Throws: ``Complaint`` with ENOENT if the device is being removed.
    func replace(_ name: FileName, with bytes: [UInt8]) throws(Complaint) {
        try Complaint.wrap("cannot write \(path)/\(name.text)") { () throws(SystemError) in
            // `rm -r` could not remove a directory that gets a file meanwhile.
            guard try root.exists(Name.record) else { throw .noEntry }
            try RecordFile(name: name).replace(with: bytes, in: root)
        }
    }
}

/// Proof that this process has the device's lock. It ends with the value, or with the process.
public final class DeviceLock: Sendable {
    private let file: Descriptor

    init(_ file: consuming Descriptor) {
        self.file = file
    }

    deinit {
        release()
    }

    /// Releases the lock before the value ends.
    public func release() {
        try? file.unlock()
    }
}
