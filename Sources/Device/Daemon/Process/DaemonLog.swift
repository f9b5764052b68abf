// The daemon's log for people, DEVICE/daemon.log: a line for each message.

import BackingStore
import FoundationEssentials
import Glibc
public import Logging
import Platform

/// Writes swift-log's messages to a file, each with one write(2), so that lines of several threads do not mix.
public struct DaemonLog: LogHandler {
    public var logLevel = Logger.Level.info
    public var metadata: Logger.Metadata = [:]
    private let file: SharedDescriptor

    /// Bytes. A larger log is truncated at the next start.
    private static let largest: Int64 = 8 << 20

    /// A logger that writes to the device's log; to nowhere when it cannot be opened, as on a full host.
    static func logger(device: String) -> Logger {
        Logger(label: "device") { _ in
            if let log = DaemonLog(device: device) { return log }
            return SwiftLogNoOpLogHandler()
        }
    }

    /// Opens the log and gives it to the owner of the device directory.
    /// - Returns: nil when the file cannot be opened.
    public init?(device: String) {
        guard let directory = try? Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY),
            let file = try? directory.openRecord(
                DeviceDirectory.Name.daemonLog, flags: O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        else { return nil }
        try? file.giveToOwner(of: directory)
        if let status = try? file.status(), status.size > DaemonLog.largest { _ = try? file.truncate(to: 0) }
        self.file = SharedDescriptor(file)
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let line = "\(Date.now.formatted(.iso8601)) \(event.level) \(event.message)\(details)"
        // A message may contain the name of a file, and that a newline.
        let safe = line.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
        _ = try? file.descriptor.append(safe + [UInt8(ascii: "\n")])
    }
}
