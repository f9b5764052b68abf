// The record of the process that serves a device, DEVICE/daemon.json.

import BackingStore
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The process that serves a device, and its control socket.
///
/// The record of a killed process stays, and the copy of a running device contains the record of the original. A reader
/// tells the first by the refused connection, and the second by the inode of the device directory. The owner of the
/// device may write what he likes into it: ``ownSocket`` says whether its socket may be used.
public struct DaemonRecord: Codable, Sendable {
    public let pid: Int32
    let socket: String
    /// The st_dev and st_ino of the device directory, by which a copy of the record is known.
    private let hostDevice: UInt64
    private let hostInode: UInt64

    private static let file = RecordFile(name: DeviceDirectory.Name.daemonRecord)

    /// The record of this process.
    init(device: DeviceDirectory, socket: String) throws(SystemError) {
        let status = try device.root.status()
        pid = getpid()
        self.socket = socket
        hostDevice = UInt64(status.raw.st_dev)
        hostInode = status.inode
    }

    /// - Returns: nil when the device has no record, or one that was copied along with it.
    init?(of device: DeviceDirectory) {
        guard let bytes = try? DaemonRecord.file.read(in: device.root, limit: 1 << 16),
            let record = try? JSONDecoder().decode(DaemonRecord.self, from: Data(bytes)),
            let status = try? device.root.status(),
            record.hostDevice == UInt64(status.raw.st_dev), record.hostInode == status.inode
        else { return nil }
        self = record
    }

    /// The same for a path; nil too where the device may not be opened.
    public init?(of path: String) {
        guard let device = try? DeviceDirectory.open(at: path) else { return nil }
        self.init(of: device)
    }

    /// The socket, if it is in a runtime directory of this user; nil for any other path.
    var ownSocket: String? { RuntimeDirectory.isSocket(socket) ? socket : nil }

    /// Replaces the record atomically, so that no reader sees half of it.
    func write(to device: DeviceDirectory) throws(SystemError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self) else { throw .invalid }
        // The file belongs to the owner of the device, who may read that root serves it.
        try DaemonRecord.file.replace(with: Array(bytes) + [UInt8(ascii: "\n")], in: device.root)
    }

    /// A missing record is no error.
    static func remove(from device: DeviceDirectory) {
        try? device.root.removeFile(DeviceDirectory.Name.daemonRecord)
    }
}
