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

    /// The entries of the directory. A new one belongs in `isOwn` too: `delete` refuses to remove foreign files.
    public enum Name {
        /// The file that makes a directory a device.
        public static let record: FileName = "Device.json"
        public static let apps: FileName = "Apps.json"
        public static let sessions: FileName = "Sessions.json"
        public static let keybag: FileName = "Keybag"
        public static let uidKey: FileName = "UID.key"
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

    init(path: String, root: consuming Descriptor, record: DeviceRecord) {
        self.path = path
        self.root = root
        uuid = record.uuid
        created = record.created
        currentRecord = Mutex(record)
    }

    /// The content of `Device.json`.
    var record: DeviceRecord { currentRecord.withLock { $0 } }

    public var settings: DeviceSettings { record.settings }

    public func replaceSettings(with settings: DeviceSettings, holding lock: DeviceLock) throws(Complaint) {
        var record = record
        record.settings = settings
        try replace(with: record)
    }

    private func replace(with record: DeviceRecord) throws(Complaint) {
        try replace(Name.record, with: try DeviceRecords.encode(record))
        currentRecord.withLock { $0 = record }
    }

    /// Opens a device for reading, without its lock. A process of the superuser acts as the device's owner from then on,
    /// where that is another user whom it trusts (``DeviceOwner``).
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice`, `foreignOwner`, `newerFormat` or `damaged`.
    public static func open(at path: String) throws(Complaint) -> DeviceDirectory {
        guard !path.isEmpty else {
            throw Complaint(.deviceMissing, "an empty path names no device; name the device's directory")
        }
        let path = withoutTrailingSlashes(path)
        let place = try openPlace(path)
        try DeviceOwner.admit(place, at: path)
        let root = try Complaint.wrap("cannot open \(path)") { () throws(SystemError) in
            try place.reopen(flags: O_RDONLY | O_DIRECTORY)
        }
        let record = try record(in: root, path: path)
        return DeviceDirectory(path: path, root: root, record: record)
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

    /// Reads and checks Device.json.
    /// - Throws: ``Complaint`` of kind `notADevice`, `newerFormat` or `damaged`, or with the host's error.
    static func record(in root: borrowing Descriptor, path: String) throws(Complaint) -> DeviceRecord {
        let file = "\(path)/\(Name.record.text)"
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try RecordFile(name: Name.record).read(in: root)
        } catch {
            throw Complaint(error, doing: "cannot read \(file)")
        }
        guard let bytes else {
            throw Complaint(
                .notADevice,
                "\(path) is not a device: it has no \(Name.record.text); make one with appcontainer create")
        }
        let format = try DeviceRecords.format(of: bytes, file: file)
        guard format <= DeviceRecord.currentFormat else {
            throw Complaint(
                .newerFormat,
                "\(path) was made by a newer version (format \(format), this one knows \(DeviceRecord.currentFormat)); "
                    + "update appcontainer")
        }
        let record = try DeviceRecords.decode(DeviceRecord.self, from: bytes, file: file)
        guard record.settings.isPossible else { throw DeviceRecords.damaged(file) }
        return record
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

    static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    // MARK: The lock

    /// Takes the device's lock for this process, and finishes an interrupted erase.
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
        try finishErase()
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
    public func identity() throws(Complaint) -> [UInt8]? {
        try Complaint.wrap("cannot read \(path)/\(Name.identity.text)") { () throws(SystemError) in
            try RecordFile(name: Name.identity).read(in: root, limit: 1 << 20)
        }
    }

    public func replaceIdentity(with pem: [UInt8], holding lock: DeviceLock) throws(Complaint) {
        try replace(Name.identity, with: pem)
    }

    // MARK: Records

    /// Every installed app, by identifier.
    public func apps() throws(Complaint) -> [InstalledApp] { try registry().apps }

    /// - Throws: ``Complaint`` of kind `damaged`.
    public func registry() throws(Complaint) -> AppRegistry {
        try DeviceRecords.registry(from: read(Name.apps), file: "\(path)/\(Name.apps.text)")
    }

    /// Replaces the registry: at that instant an app is installed, or uninstalled.
    public func replaceRegistry(_ registry: AppRegistry, holding lock: DeviceLock) throws(Complaint) {
        var record = record
        if !registry.waiting.isEmpty, record.format < DeviceRecord.formatWithWaiting {
            // First, because older versions would remove waiting containers.
            record.format = DeviceRecord.formatWithWaiting
            try replace(with: record)
        }
        try replace(Name.apps, with: try DeviceRecords.encode(registry))
    }

    /// Begins the next session.
    public func beginSession(holding lock: DeviceLock) throws(Complaint) -> DeviceSession {
        let boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
        let inode = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in try root.status().inode }
        let (record, session) = try sessionRecord().next(bootID: boot, at: .now, in: inode)
        if session.start == .afterKill {
            // The killed process's writes may be in the host's memory only. From here on they survive a power cut.
            try Complaint.wrap("cannot synchronize \(path)") { () throws(SystemError) in
                try root.synchronizeFilesystem()
            }
        }
        try replace(Name.sessions, with: try DeviceRecords.encode(record))
        RecordReserve.take(in: root)
        return session
    }

    /// Synchronizes the host's filesystem and records that the session ended in order. The caller has closed every
    /// file.
    /// - Parameter used: bytes of the host that the containers take; nil if unknown.
    public func endSession(used: Int64? = nil, holding lock: DeviceLock) throws(Complaint) {
        try Complaint.wrap("cannot synchronize \(path)") { () throws(SystemError) in
            try root.synchronizeFilesystem()
        }
        var record = try sessionRecord()
        record.ended = true
        record.used = used
        record.usedIn = used == nil ? nil : (try? root.status().inode)
        try replace(Name.sessions, with: try DeviceRecords.encode(record))
    }

    private func sessionRecord() throws(Complaint) -> SessionRecord {
        try DeviceRecords.decode(
            SessionRecord.self, from: read(Name.sessions), file: "\(path)/\(Name.sessions.text)")
    }

    /// Reads a record that every device has.
    /// - Throws: ``Complaint`` of kind `damaged` if it is missing.
    func read(_ name: FileName) throws(Complaint) -> [UInt8] {
        let bytes = try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
            try RecordFile(name: name).read(in: root)
        }
        guard let bytes else {
            throw Complaint(.damaged, "\(path)/\(name.text) is missing; restore it from a copy of the device")
        }
        return bytes
    }

    /// Replaces a record, durably (``RecordFile``). The caller has the device's lock.
    func replace(_ name: FileName, with bytes: [UInt8]) throws(Complaint) {
        try Complaint.wrap("cannot write \(path)/\(name.text)") { () throws(SystemError) in
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
