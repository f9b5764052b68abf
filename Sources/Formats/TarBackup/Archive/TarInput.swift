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
    func skip(_ count: Int64) -> Bool
}

/// An archive that is not compressed.
final class FileInput: TarInput {
    private let file: SharedDescriptor
    private let name: String
    private let size: Int64
    private var position: Int64

    /// - Parameter start: where to begin, which is the header of an entry.
    init(_ file: SharedDescriptor, from start: Int64 = 0, size: Int64, name: String) {
        (self.file, position, self.size, self.name) = (file, start, size, name)
    }

    func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        let position = self.position
        let count = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.read(into: buffer, count: buffer.count, from: position)
        }
        self.position += Int64(count)
        return count
    }

    func skip(_ count: Int64) -> Bool {
        guard count <= size - position else { return false }
        position += count
        return true
    }
}
