// Buffered access to parts of an archive.

import Platform
import SandboxModel

/// A buffer that holds the part of the archive that is parsed, and reads ahead.
struct ArchiveWindow {
    /// Longer than any record, whose three variable parts have at most 65,535 bytes each.
    let buffer = PageBuffer(count: 256 << 10)
    private let length: Int64
    private var start: Int64 = 0
    private var filled = 0

    /// - Parameter length: bytes of the archive.
    init(length: Int64) {
        self.length = length
    }

    /// Brings bytes of the archive into the buffer, where they stay until the next call.
    /// - Returns: their offset in the buffer.
    /// - Throws: ``ArchiveFault/contradiction`` if the archive does not have so many bytes.
    mutating func fetch(_ file: borrowing Descriptor, _ offset: Int64, _ count: Int) throws(ArchiveFault) -> Int {
        guard offset >= 0, offset <= length - Int64(count) else { throw .contradiction }
        if offset < start || offset + Int64(count) > start + Int64(filled) {
            let buffer = self.buffer
            let wanted = max(count, 16 << 10)
            start = offset
            filled = 0
            filled = try onHost { () throws(SystemError) in
                try file.read(into: buffer, count: min(wanted, buffer.count), from: offset)
            }
            guard filled >= count else { throw .contradiction }
        }
        return Int(offset - start)
    }
}
