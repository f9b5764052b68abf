// The seal of a template: a digest behind the compressed archive, over all of it.

import HashFunctions
import Platform
import SandboxModel
import TarFormat

/// The seal: a skippable frame of zstd (RFC 8878, section 3.1.2), which tools for zstd pass over, with the SHA-256 of
/// all bytes before it.
enum TemplateSeal {
    /// The frame's magic number and the length of its content, both little-endian.
    static let head: [UInt8] = [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0]
    /// Bytes of the whole frame.
    static let length = head.count + HashFunction.sha256.length
}

/// Writes a template to a file or a pipe, and adds the seal.
final class SealedOutput: ByteOutput {
    private let file: SharedDescriptor
    private var digest = MessageDigest(.sha256)
    /// Bytes that were written.
    private(set) var written: Int64 = 0

    init(_ file: SharedDescriptor) {
        self.file = file
    }

    func append(_ bytes: borrowing RawSpan) throws(SystemError) {
        digest.update(bytes)
        try file.descriptor.append(bytes)
        written += Int64(bytes.byteCount)
    }

    /// Writes the seal.
    /// - Returns: the SHA-256 of the whole file, seal and all.
    func finish() throws(SystemError) -> [UInt8] {
        let seal = TemplateSeal.head + digest.digestSoFar()
        digest.update(seal)
        try file.descriptor.append(seal)
        written += Int64(seal.count)
        return digest.finish()
    }
}

/// Reads a template from a file or a pipe, without its seal.
final class SealedInput: ArchiveInput {
    private let file: SharedDescriptor
    private let origin: ArchiveOrigin
    /// Of the bytes that were handed on.
    private var digest = MessageDigest(.sha256)
    /// Bytes that were read, and not handed on yet: at the end they are the seal.
    private let held: PageBuffer
    private var count = 0
    private var isAtBeginning = true
    private var isAtEnd = false

    private static let capacity = 256 << 10

    /// - Parameter file: read from where it is.
    init(_ file: SharedDescriptor, from origin: ArchiveOrigin) {
        (self.file, self.origin) = (file, origin)
        held = PageBuffer(count: SealedInput.capacity + TemplateSeal.length)
    }

    func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        while !isAtEnd, count <= TemplateSeal.length {
            let place = count
            let got = try Complaint.wrap("cannot read \(origin.name)") { () throws(SystemError) in
                try file.descriptor.readNext(into: held, at: place, count: SealedInput.capacity)
            }
            if got == 0 { isAtEnd = true }
            count += got
        }
        if isAtBeginning {
            isAtBeginning = false
            let magic = DecompressedInput.Format.zstandard.magic
            guard held.bytes(0, count: min(count, magic.count)) == magic else { throw origin.complaint(origin.foreign) }
        }
        let ready = min(count - TemplateSeal.length, buffer.count)
        guard ready > 0 else { return 0 }
        buffer.copy(from: held, at: 0, count: ready, to: 0)
        digest.update(held, at: 0, count: ready)
        count -= ready
        held.copy(from: held, at: ready, count: count, to: 0)
        return ready
    }

    /// A template is hashed as it is read, and may be a pipe.
    func skip(_ count: Int64) -> Bool { false }

    /// Checks the seal.
    /// - Returns: the SHA-256 of the whole file.
    /// - Throws: ``Complaint`` of kind `invalidTemplate` for a file that was cut short, altered or continued.
    func finish() throws(Complaint) -> [UInt8] {
        let rest = PageBuffer(count: 4096)
        guard try read(into: rest) == 0 else {
            throw origin.complaint(ArchiveFlaw("goes on behind its end; use another copy of it"))
        }
        let seal = held.bytes(0, count: count)
        guard seal.count == TemplateSeal.length, seal.starts(with: TemplateSeal.head) else {
            throw origin.complaint(.cutShort)
        }
        guard digest.digestSoFar() == Array(seal[TemplateSeal.head.count...]) else {
            throw origin.complaint(ArchiveFlaw("was altered: its digest is another; use another copy of it"))
        }
        digest.update(seal)
        return digest.finish()
    }
}
