// The device directory: where each thing lies, and who may change it.
// Records are read by anybody; they are changed by whoever holds the ``DeviceLock``, from one thread at a time.

public import DataProtection
import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// A directory of the host that holds a device: its keys, its records, every app and its containers.
public final class DeviceDirectory: Sendable {
    /// The directory as the user named it: for messages and for paths that are shown.
    public let path: String
    /// The directory itself, open for reading.
    public let root: Descriptor
    /// The device's own UUID. A clone has another.
    public let uuid: String
    /// When the device was created: ISO 8601, in UTC.
    public let created: String
    private let currentRecord: Mutex<DeviceRecord>

    enum Name {
        static let record: FileName = "Device.json"
        static let apps: FileName = "Apps.json"
        static let sessions: FileName = "Sessions.json"
        static let keybag: FileName = "Keybag"
        static let uidKey: FileName = "UID.key"
        /// The device's own signing identity.
        static let identity: FileName = "Identity.pem"
        static let attempts: FileName = "Passcode.json"
        static let lock: FileName = "lock"
        static let staging: FileName = "Staging"
        /// What was purged and is being removed.
        static let trash: FileName = "Trash"
        static let reserve: FileName = "Reserve"
        static let containers: FileName = "Containers"
        /// Holds the new keys while an erase is under way.
        static let erasing: FileName = "Erasing"
        static let daemonRecord: FileName = "daemon.json"
        static let daemonLog: FileName = "daemon.log"
        /// The record of events, and the part of it before.
        static let events: FileName = "Events.jsonl"
        static let olderEvents: FileName = "Events.1.jsonl"
    }

    /// The file without which a directory is no device.
    public static let recordName = Name.record

    init(path: String, root: consuming Descriptor, record: DeviceRecord) {
        self.path = path
        self.root = root
        uuid = record.uuid
        created = record.created
        currentRecord = Mutex(record)
    }

    /// What `Device.json` holds.
    var record: DeviceRecord { currentRecord.withLock { $0 } }

    public var settings: DeviceSettings { record.settings }

    /// Durable when it returns.
    public func replaceSettings(with settings: DeviceSettings, holding lock: DeviceLock) throws(Complaint) {
        var record = record
        record.settings = settings
        try replace(with: record)
    }

    private func replace(with record: DeviceRecord) throws(Complaint) {
        try replace(Name.record, with: try DeviceRecords.encode(record))
        currentRecord.withLock { $0 = record }
    }

    /// Opens a device without locking it: enough for looking.
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice`, `newerFormat` or `damaged`.
    public static func open(at path: String) throws(Complaint) -> DeviceDirectory {
        guard !path.isEmpty else {
            throw Complaint(.deviceMissing, "an empty path names no device; name the device's directory")
        }
        let path = withoutTrailingSlashes(path)
        let root: Descriptor
        do throws(SystemError) {
            root = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
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
        let record = try record(in: root, path: path)
        return DeviceDirectory(path: path, root: root, record: record)
    }

    static func record(in root: borrowing Descriptor, path: String) throws(Complaint) -> DeviceRecord {
        let file = "\(path)/\(Name.record.text)"
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try DeviceFile(name: Name.record).read(in: root)
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

    /// The device that a place is or lies in.
    ///
    /// It is known by two of its files, because other programs have a Device.json as well.
    /// - Parameter path: a path without links.
    /// - Returns: its path; nil when the place is in no device.
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

    /// Makes this process the one that serves or changes the device, and finishes an erase that was interrupted.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when another process is that.
    public func lock() throws(Complaint) -> DeviceLock {
        let file = try Complaint.wrap("cannot lock \(path)") { () throws(SystemError) -> Descriptor? in
            let file = try root.open(Name.lock, flags: O_RDWR | O_CREAT, mode: 0o600)
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

    /// Whether a process serves or changes the device now.
    public var isLocked: Bool {
        guard let file = try? root.open(Name.lock, flags: O_RDWR) else { return false }
        return (try? file.tryLock()) == false
    }

    /// Waits until nobody else starts this device's process or copies the device.
    /// - Returns: what keeps others waiting for as long as it lives.
    public func takeTurn() throws(Complaint) -> SharedDescriptor {
        try Complaint.wrap("cannot lock \(path)") { () throws(SystemError) in
            let directory = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
            try directory.lock()
            return SharedDescriptor(directory)
        }
    }

    // MARK: Keys

    /// The key that stands for the one fused into a device's chip.
    public func uidKey() throws(Complaint) -> UIDKey {
        let file = "\(path)/\(Name.uidKey.text)"
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try DeviceFile(name: Name.uidKey).read(in: root)
        }
        guard let key = bytes.flatMap({ UIDKey($0) }) else {
            throw Complaint(
                .damaged,
                "\(file) is \(bytes == nil ? "missing" : "damaged"), and no file of the device can ever be read again "
                    + "without it; restore it from a copy of the device")
        }
        return key
    }

    /// The keybag as DataProtection encodes it.
    public func keybag() throws(Complaint) -> [UInt8] {
        try read(Name.keybag)
    }

    /// Durable when it returns.
    public func replaceKeybag(with bytes: [UInt8], holding lock: DeviceLock) throws(Complaint) {
        try replace(Name.keybag, with: bytes)
    }

    // MARK: The device's own identity

    public static let identityName = Name.identity

    /// With what the device signs apps that nobody has signed, as PEM; nil before the first of them.
    public func identity() throws(Complaint) -> [UInt8]? {
        try Complaint.wrap("cannot read \(path)/\(Name.identity.text)") { () throws(SystemError) in
            try DeviceFile(name: Name.identity).read(in: root, limit: 1 << 20)
        }
    }

    public func replaceIdentity(with pem: [UInt8], holding lock: DeviceLock) throws(Complaint) {
        try replace(Name.identity, with: pem)
    }

    // MARK: Records

    /// Every installed app, by identifier.
    public func apps() throws(Complaint) -> [InstalledApp] { try registry().apps }

    public func registry() throws(Complaint) -> AppRegistry {
        try DeviceRecords.registry(from: read(Name.apps), file: "\(path)/\(Name.apps.text)")
    }

    /// Replaces the registry: the moment at which an app is installed, or is gone. Durable when it returns.
    public func replaceRegistry(_ registry: AppRegistry, holding lock: DeviceLock) throws(Complaint) {
        var record = record
        if !registry.waiting.isEmpty, record.format < DeviceRecord.formatWithWaiting {
            // First: a version that does not know of waiting containers would remove them.
            record.format = DeviceRecord.formatWithWaiting
            try replace(with: record)
        }
        try replace(Name.apps, with: try DeviceRecords.encode(registry))
    }

    /// Takes the next session number.
    public func beginSession(holding lock: DeviceLock) throws(Complaint) -> DeviceSession {
        let boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
        let inode = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in try root.status().inode }
        let (record, session) = try sessionRecord().next(bootID: boot, at: .now, in: inode)
        if session.start == .afterKill {
            // What the killed process wrote is in the host's memory: from here on it survives a power cut as well.
            try Complaint.wrap("cannot synchronize \(path)") { () throws(SystemError) in
                try root.synchronizeFilesystem()
            }
        }
        try replace(Name.sessions, with: try DeviceRecords.encode(record))
        RecordReserve.take(in: root)
        return session
    }

    /// Records that the session ended well. The caller has closed every file; the host's memory is written out here.
    /// - Parameter used: bytes of the host that the containers take; nil when that is not known.
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

    func read(_ name: FileName) throws(Complaint) -> [UInt8] {
        let bytes = try Complaint.wrap("cannot read \(path)/\(name.text)") { () throws(SystemError) in
            try DeviceFile(name: name).read(in: root)
        }
        guard let bytes else {
            throw Complaint(.damaged, "\(path)/\(name.text) is missing; restore it from a copy of the device")
        }
        return bytes
    }

    func replace(_ name: FileName, with bytes: [UInt8]) throws(Complaint) {
        try Complaint.wrap("cannot write \(path)/\(name.text)") { () throws(SystemError) in
            try DeviceFile(name: name).replace(with: bytes, in: root)
        }
    }
}

/// Proof that this process holds the device; the kernel releases it with the value, or with the process.
public final class DeviceLock: Sendable {
    private let file: Descriptor

    init(_ file: consuming Descriptor) {
        self.file = file
    }

    deinit {
        release()
    }

    /// Lets others have the device although this value goes on.
    public func release() {
        try? file.unlock()
    }
}
