// DEVICE/daemon.json: who serves the device, while somebody does.

import BackingStore
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The process that serves a device, and where it listens.
///
/// The record of a killed process stays behind, and a copy of a running device has the original's: the directory's
/// own inode tells the copy apart, and a connection that is refused tells a killed one.
public struct DaemonRecord: Codable, Sendable {
    public let pid: Int32
    public let socket: String
    private let hostDevice: UInt64
    private let hostInode: UInt64

    private static let name: FileName = "daemon.json"
    private static func path(_ device: String) -> String { "\(device)/\(name.text)" }

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

    /// Puts the record in place at once, so that no reader sees half of it.
    func write(to device: String) throws(SystemError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self) else { throw .invalid }
        // Belongs to the owner of the device, who may know that root serves it.
        let directory = try Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY)
        try DeviceFile(name: DaemonRecord.name).replace(with: Array(bytes) + [UInt8(ascii: "\n")], in: directory)
    }

    static func remove(from device: String) {
        try? HostPath.removeFile(path(device))
    }
}
