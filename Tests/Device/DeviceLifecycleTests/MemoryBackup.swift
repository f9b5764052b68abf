// A backup in memory: what the walk gives and what a restore takes, without any form on disk.

import BackupModel
import Platform
import SandboxModel

/// A backup in memory: its entries, in order.
final class MemoryBackup {
    struct Item {
        var entry: BackupEntry
        var pieces: [(offset: Int64, bytes: [UInt8])] = []

        /// The content, with zeros where nothing was written.
        var content: [UInt8] {
            guard case .file(let content) = entry.kind else { return [] }
            var bytes = [UInt8](repeating: 0, count: Int(content.length))
            for piece in pieces {
                bytes.replaceSubrange(Int(piece.offset)..<Int(piece.offset) + piece.bytes.count, with: piece.bytes)
            }
            return bytes
        }
    }

    var apps: [BackupApp] = []
    var items: [Item] = []
    var isFinished = false
    /// The device's class keys under its backup password.
    var keybag: [UInt8]?
    /// Changes to the device that are made once an entry is begun, by its path in the container.
    var meanwhile: [String: () throws -> Void] = [:]
    /// Contents of an earlier backup, by path.
    var earlier: [String: [UInt8]?] = [:]

    var paths: [String] { items.map { path(of: $0.entry) } }

    func item(_ path: String) -> Item? { items.first { self.path(of: $0.entry) == path } }

    func path(of entry: BackupEntry) -> String {
        ([entry.domain.name] + entry.path.map(\.text)).joined(separator: "/")
    }

    var sink: Sink { Sink(backup: self) }
    var source: Source { Source(backup: self) }

    struct Sink: BackupSink {
        let backup: MemoryBackup

        mutating func begin(_ entry: BackupEntry) throws(Complaint) {
            backup.items.append(Item(entry: entry))
            try! backup.meanwhile[entry.path.text]?()
        }

        mutating func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Complaint) {
            let copy = PageBuffer(count: bytes.byteCount)
            copy.copy(bytes, to: 0)
            let piece = (offset, copy.bytes(0, count: bytes.byteCount))
            backup.items[backup.items.count - 1].pieces.append(piece)
        }

        mutating func continues(
            _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
        ) throws(Complaint) -> Bool {
            guard let known = backup.earlier[backup.path(of: entry)] else { return false }
            return try digest() == known
        }

        mutating func finish() throws(Complaint) { backup.isFinished = true }
    }

    struct Source: BackupSource {
        let backup: MemoryBackup
        private var index = -1

        init(backup: MemoryBackup) { self.backup = backup }

        var apps: [BackupApp] { backup.apps }
        var passwordKeybag: [UInt8]? { backup.keybag }

        mutating func next() throws(Complaint) -> BackupEntry? {
            index += 1
            return index < backup.items.count ? backup.items[index].entry : nil
        }

        mutating func read(
            _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
        ) throws(Complaint) {
            for piece in backup.items[index].pieces {
                let buffer = PageBuffer(count: piece.bytes.count)
                buffer.copy(piece.bytes, to: 0)
                try buffer.withBytes(0, count: piece.bytes.count) { (bytes) throws(Complaint) in
                    try body(bytes, piece.offset)
                }
            }
        }

        mutating func verifyEnd() throws(Complaint) {
            guard backup.isFinished else { throw Complaint(.invalidBackup, "the backup is cut short") }
        }
    }
}
