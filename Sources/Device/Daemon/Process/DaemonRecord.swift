// The record of the process that serves a device, DEVICE/daemon.json.

import BackingStore
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The process that serves a device, and its control socket.
///
/// The record of a killed process stays, and the copy of a running device contains the record of the original. A reader
/// tells the first by the refused connection, and the second by the inode of the device directory.
public struct DaemonRecord: Codable, Sendable {
    public let pid: Int32
    public let socket: String
    /// The st_dev and st_ino of the device directory, by which a copy of the record is known.
    private let hostDevice: UInt64
    private let hostInode: UInt64

    private static let name = DeviceDirectory.Name.daemonRecord
    private static func path(_ device: String) -> String { "\(device)/\(name.text)" }

    /// The record of this process.
    init(device: String, socket: String) throws(SystemError) {
        let status = try HostPath.status(device)
        pid = getpid()
        self.socket = socket
        hostDevice = UInt64(status.raw.st_dev)
        hostInode = status.inode
    }

    /// - Returns: nil when the device has no record, or one that was copied along with it.
    public init?(of device: String) {
        guard let bytes = try? HostPath.contents(DaemonRecord.path(device), limit: 1 << 16),
            let record = try? JSONDecoder().decode(DaemonRecord.self, from: Data(bytes)),
            let status = try? HostPath.status(device),
            record.hostDevice == UInt64(status.raw.st_dev), record.hostInode == status.inode
        else { return nil }
        self = record
    }

    /// Replaces the record atomically, so that no reader sees half of it.
    func write(to device: String) throws(SystemError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self) else { throw .invalid }
        // The file belongs to the owner of the device, who may read that root serves it.
        let directory = try Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY)
        try RecordFile(name: DaemonRecord.name).replace(with: Array(bytes) + [UInt8(ascii: "\n")], in: directory)
    }

    /// A missing record is no error.
    static func remove(from device: String) {
        try? HostPath.removeFile(path(device))
    }
}
