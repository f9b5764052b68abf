// The content of one file on its way into a backup: the plain content, or the backing file where its class is closed.

import BackingStore
import BackupModel
import Glibc
import Platform
import SandboxModel

/// A file of a container, open for a backup.
struct BackupFile {
    let content: BackupEntry.Content
    let protection: ProtectionClass
    /// The time of the last write. The walk's may be another: one that a file has while it is open or being closed.
    let modificationTime: timespec
    private let place: ContainerPlace
    private let reader: BackupReader
    /// nil where the class is closed.
    private let file: EncryptedFile?
    /// nil for a plain file: of the two one is open.
    private let backing: SharedDescriptor?

    /// - Returns: nil for a file that went while the walk was under way.
    /// - Throws: ``Complaint`` of kind `damaged` where the header does not authenticate.
    init?(_ place: ContainerPlace, _ reader: BackupReader) throws(Complaint) {
        self.place = place
        self.reader = reader
        do throws(Fault) {
            file = try reader.openReadable(place)
            if let file {
                backing = nil
                content = .plain(length: file.length, data: try BackupFile.dataRanges(of: file))
                protection = file.protection
                modificationTime = try file.timeOfLastWrite()
            } else {
                let backing = try reader.openBacking(place)
                let length = try onHost { () throws(SystemError) in try backing.descriptor.status().size }
                guard let named = EncryptedFile.protection(of: backing.descriptor) else { throw Fault.corrupt }
                self.backing = backing
                content = .sealed(length: length + SealedOrigin.length, keybag: reader.keybag)
                protection = named
                // First through the open file: the host has the time when that is closed.
                modificationTime =
                    if let live = reader.openFile(place.status.inode) { try live.timeOfLastWrite() } else {
                        try onHost { () throws(SystemError) in try backing.descriptor.status().modificationTime }
                    }
            }
        } catch {
            if error == .system(.noEntry) { return nil }
            throw reader.complaint(error, about: place)
        }
    }

    /// The ranges of the content that hold data; all else reads as zeros.
    static func dataRanges(of file: EncryptedFile) throws(Fault) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        let length = file.length
        var position: Int64 = 0
        while position < length, let start = try file.seek(from: position, toHole: false), start < length {
            let end = min(try file.seek(from: start, toHole: true) ?? length, length)
            guard end > start else { break }
            ranges.append(start..<end)
            position = end
        }
        return ranges
    }

    /// The most bytes of a hole that are skipped without a call of `body`: a sink may have to count terabytes of zeros.
    private static let longestSilence: Int64 = 64 << 20

    /// Hands over the content piece by piece: of a plain file the data ranges, and for each part of a long hole an
    /// empty piece.
    /// - Parameters:
    ///   - entry: with this file's content; a proof speaks of it.
    ///   - body: answers whether to go on.
    /// - Returns: false when the body ended it.
    func read(
        as entry: BackupEntry, _ body: (_ bytes: RawSpan, _ offset: Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        let buffer = reader.buffer
        // Content of class A is not to outlive a lock in memory.
        defer { if protection == .complete { buffer.wipe(0, count: buffer.count) } }
        switch content {
        case .plain(let length, let ranges):
            var file = file!
            var end: Int64 = 0
            for range in ranges {
                guard try pass(end..<range.lowerBound, body) else { return false }
                end = range.upperBound
                var position = range.lowerBound
                while position < range.upperBound {
                    let count = Int(min(range.upperBound - position, Int64(buffer.count)))
                    try fill(buffer, count, from: position, of: &file)
                    guard try deliver(buffer, count, position, body) else { return false }
                    position += Int64(count)
                }
            }
            return try pass(end..<length, body)
        case .sealed(let length, _):
            var position: Int64 = 0
            var origin = SealedOrigin(of: entry, key: reader.key)
            let end = length - SealedOrigin.length
            while position < end {
                let count = Int(min(end - position, Int64(buffer.count)))
                let got = try Complaint.wrap(reader.doing(place)) { () throws(SystemError) in
                    try backing!.descriptor.read(into: buffer, count: count, from: position)
                }
                // The backing file has become shorter than the entry says; the sink expects so many bytes.
                buffer.zero(got, count: count - got)
                buffer.withBytes(0, count: count) { bytes in origin.add(bytes) }
                guard try deliver(buffer, count, position, body) else { return false }
                position += Int64(count)
            }
            buffer.copy(origin.proof(), to: 0)
            return try deliver(buffer, Int(SealedOrigin.length), end, body)
        }
    }

    /// Skips a hole, with a call of `body` for each step of ``longestSilence``.
    /// - Returns: false when the body ended it.
    private func pass(
        _ hole: Range<Int64>, _ body: (RawSpan, Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        var position = hole.lowerBound
        while hole.upperBound - position > BackupFile.longestSilence {
            position += BackupFile.longestSilence
            guard try body(RawSpan(), position) else { return false }
        }
        return true
    }

    /// Lends bytes of the buffer to the body.
    private func deliver(
        _ buffer: PageBuffer, _ count: Int, _ position: Int64,
        _ body: (RawSpan, Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        try buffer.withBytes(0, count: count) { (bytes) throws(Complaint) in try body(bytes, position) }
    }

    /// Fills the buffer. Another process may open the file for writing meanwhile: a read that fails to authenticate is
    /// repeated through the file that the writer has open.
    private func fill(
        _ buffer: PageBuffer, _ count: Int, from position: Int64, of file: inout EncryptedFile
    ) throws(Complaint) {
        var attempt = 1
        while true {
            do throws(Fault) {
                var filled = 0
                try file.read(count: count, from: position) { filled = $0.copy(to: buffer) }
                // It has become shorter than it was.
                buffer.zero(filled, count: count - filled)
                return
            } catch {
                guard error == .corrupt, attempt < BackupFile.attempts, let again = try? reader.open(place) else {
                    throw reader.complaint(error, about: place)
                }
                file = again
                attempt += 1
            }
        }
    }

    /// How often a piece is read that fails to authenticate.
    private static let attempts = 5
}
