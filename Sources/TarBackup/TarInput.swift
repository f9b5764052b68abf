// Where the bytes of an archive come from, as they stand or decompressed.

import Glibc
import Platform
import SandboxModel

/// The bytes of an archive from its beginning.
protocol TarInput: AnyObject {
    /// - Returns: how many bytes; 0 at the end.
    func read(into buffer: PageBuffer) throws(Complaint) -> Int

    /// Passes over bytes without reading them.
    /// - Returns: false where that cannot be.
    func skip(_ count: Int64) throws(Complaint) -> Bool
}

/// An archive that is not compressed.
final class FileInput: TarInput {
    private let file: SharedDescriptor
    private let name: String
    private let size: Int64
    private var position: Int64 = 0

    init(_ file: SharedDescriptor, size: Int64, name: String) {
        (self.file, self.size, self.name) = (file, size, name)
    }

    func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        let position = self.position
        let count = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.read(into: buffer, count: buffer.count, from: position)
        }
        self.position += Int64(count)
        return count
    }

    func skip(_ count: Int64) throws(Complaint) -> Bool {
        guard count <= size - position else { throw BackupFlaw.cutShort.complaint(about: name) }
        position += count
        return true
    }
}

/// Reads an archive piece by piece.
final class TarStream {
    private let input: any TarInput
    private let name: String
    let buffer = PageBuffer(count: 256 << 10)
    private var start = 0
    private var end = 0
    /// How many bytes were taken.
    private(set) var position: Int64 = 0

    init(_ input: any TarInput, name: String) {
        (self.input, self.name) = (input, name)
    }

    /// Bytes that come next, as a range of ``buffer`` that is good until something else is asked for.
    func piece(_ count: Int64) throws(Complaint) -> Range<Int> {
        if start == end {
            (start, end) = (0, try input.read(into: buffer))
            guard end > 0 else { throw BackupFlaw.cutShort.complaint(about: name) }
        }
        let piece = start..<(start + Int(min(count, Int64(end - start))))
        start = piece.upperBound
        position += Int64(piece.count)
        return piece
    }

    func bytes(_ count: Int) throws(Complaint) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try piece(Int64(count - bytes.count))
            bytes += buffer.bytes(piece.lowerBound, count: piece.count)
        }
        return bytes
    }

    func skip(_ count: Int64) throws(Complaint) {
        let here = Int(min(count, Int64(end - start)))
        start += here
        position += Int64(here)
        var left = count - Int64(here)
        guard left > 0 else { return }
        if try input.skip(left) {
            position += left
            return
        }
        while left > 0 { left -= Int64(try piece(left).count) }
    }

    /// Whether nothing comes any more.
    func isAtEnd() throws(Complaint) -> Bool {
        if start == end { (start, end) = (0, try input.read(into: buffer)) }
        return start == end
    }
}
