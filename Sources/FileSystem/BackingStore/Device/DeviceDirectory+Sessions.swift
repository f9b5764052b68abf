// The sessions of a device: each is recorded when it begins, and when it ends in order.

import Platform
public import SandboxModel
import Synchronization

extension DeviceDirectory {
    /// The longest record of sessions that is read, in bytes.
    private static let longestSessions = 16 << 20

    /// Begins the next session. A record of sessions that is missing, damaged or not this device's own is replaced by
    /// one that knows of no earlier session.
    public func beginSession(holding lock: DeviceLock) throws(Complaint) -> DeviceSession {
        let boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
        let inode = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in try root.status().inode }
        let known = try sessionRecord()
        let now = HostTime.now
        let (record, session) = try (known ?? .lost(at: now)).next(
            bootID: boot, at: now, in: inode, isLost: known == nil)
        if session.start == .afterKill || session.start == .unknown {
            // The killed process's writes may be in the host's memory only. From here on they survive a power cut.
            try Complaint.wrap("cannot synchronize \(path)") { () throws(SystemError) in
                try root.synchronizeFilesystem()
            }
        }
        try replace(Name.sessions, sealing: try DeviceRecords.encode(record))
        begunSession.withLock { $0 = record }
        RecordReserve.take(in: root)
        return session
    }

    /// Synchronizes the host's filesystem and records that the session ended in order. The caller has closed every
    /// file.
    /// - Parameters:
    ///   - used: bytes of the host that the containers take; nil if unknown.
    ///   - unfinished: the files in which a change failed halfway.
    public func endSession(
        used: Int64? = nil, unfinished: [DisturbedFile] = [], holding lock: DeviceLock
    ) throws(Complaint) {
        try Complaint.wrap("cannot synchronize \(path)") { () throws(SystemError) in
            try root.synchronizeFilesystem()
        }
        // As this process wrote it: the file may have been changed since.
        var known = begunSession.withLock { $0 }
        if known == nil { known = try sessionRecord() }
        guard var record = known else {
            throw Complaint(.damaged, "\(path)/\(Name.sessions.text) is missing or damaged, and no session has begun")
        }
        record.end(unfinished: unfinished)
        record.used = used
        record.usedIn = used == nil ? nil : (try? root.status().inode)
        try replace(Name.sessions, sealing: try DeviceRecords.encode(record))
    }

    /// - Returns: nil if it is missing, damaged or not this device's own.
    /// - Throws: errors of the host.
    func sessionRecord() throws(Complaint) -> SessionRecord? {
        do throws(Complaint) {
            guard let bytes = try believed(Name.sessions, limit: DeviceDirectory.longestSessions) else { return nil }
            return try DeviceRecords.decode(SessionRecord.self, from: bytes, file: "\(path)/\(Name.sessions.text)")
        } catch {
            guard error.kind == .damaged else { throw error }
            return nil
        }
    }
}
