// The input of a tar reader, plain or decompressed.

import Glibc
public import Platform
public import SandboxModel

/// The bytes of an archive, in order.
public protocol ArchiveInput: AnyObject {
    /// Reads the next bytes.
    /// - Returns: the number of bytes; 0 at the end.
    func read(into buffer: PageBuffer) throws(Complaint) -> Int

    /// Skips bytes without reading them.
    /// - Returns: false if that is not possible.
    func skip(_ count: Int64) -> Bool
}

/// An archive that is a file, and is not compressed.
public final class FileInput: ArchiveInput {
    private let file: SharedDescriptor
    private let name: String
    private let size: Int64
    private var position: Int64

    /// - Parameter start: the offset of the entry's header to begin at.
    public init(_ file: SharedDescriptor, from start: Int64 = 0, size: Int64, name: String) {
        (self.file, position, self.size, self.name) = (file, start, size, name)
    }

    public func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        let position = self.position
        let count = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.read(into: buffer, count: buffer.count, from: position)
        }
        self.position += Int64(count)
        return count
    }

    public func skip(_ count: Int64) -> Bool {
        guard count <= size - position else { return false }
        position += count
        return true
    }
}
