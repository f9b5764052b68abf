// Reading a template, which is the input of an attacker. Its seal finds damage; anybody can make a template with one.

public import Glibc
import HashFunctions
public import Platform
public import SandboxModel
public import TarFormat

extension ArchiveOrigin {
    /// A template's file.
    /// - Parameter name: as messages show it.
    public static func template(_ name: String) -> ArchiveOrigin {
        ArchiveOrigin(
            name, kind: .invalidTemplate,
            foreign: ArchiveFlaw("is no template of a device; name a file that `appcontainer export` wrote"))
    }
}

/// Reads a template from a file or a pipe. It is whole if ``finish()`` says so, and that of somebody whom the caller
/// trusts if it has the digest that the caller knows.
public final class TemplateReader {
    public let origin: ArchiveOrigin
    /// The owner of the device that was exported.
    public let owner: uid_t
    public let group: gid_t
    private let sealed: SealedInput
    private let decompressed: DecompressedInput
    private let tar: TarReader

    /// Reads the head.
    /// - Parameter file: read from where it is.
    /// - Throws: ``Complaint`` of kind `invalidTemplate` or `newerFormat`, or with the host's error.
    public init(_ file: SharedDescriptor, from origin: ArchiveOrigin) throws(Complaint) {
        self.origin = origin
        sealed = SealedInput(file, from: origin)
        decompressed = try DecompressedInput(sealed, .zstandard, from: origin)
        tar = try TarReader(decompressed, from: origin)
        let foreign = origin.complaint(origin.foreign)
        guard let head = try tar.next(), head.path == TemplateHead.path, case .file(let length, _) = head.kind,
            length <= TemplateHead.longest
        else { throw foreign }
        let content = String(decoding: try TemplateReader.bytes(of: tar, length, from: origin), as: UTF8.self)
        guard content.hasSuffix("\n"), let version = Int(content.dropLast()) else { throw foreign }
        guard version == TemplateHead.version else {
            throw Complaint(
                .newerFormat, "\(origin.name) was made by a newer version of appcontainer; import it with that version")
        }
        (owner, group) = (head.owner, head.group)
    }

    /// Reads the header of the next entry.
    /// - Returns: nil behind the last.
    public func next() throws(Complaint) -> TarEntry? { try tar.next() }

    /// The content of the present entry, which is a small file.
    /// - Parameter length: of the entry, which the caller has found small enough.
    public func content(_ length: Int64) throws(Complaint) -> [UInt8] {
        try TemplateReader.bytes(of: tar, length, from: origin)
    }

    private static func bytes(
        of tar: TarReader, _ length: Int64, from origin: ArchiveOrigin
    ) throws(Complaint) -> [UInt8] {
        let buffer = PageBuffer(count: Int(length))
        var end = 0
        try tar.content { bytes, offset throws(Complaint) in
            // Holes would be zeros, which no record has.
            guard offset == Int64(end), Int64(bytes.byteCount) <= length - offset else {
                throw origin.complaint(.outOfOrder)
            }
            buffer.copy(bytes, to: end)
            end += bytes.byteCount
        }
        guard end == Int(length) else { throw origin.complaint(.outOfOrder) }
        return buffer.bytes(0, count: end)
    }

    /// Reads the content of the present entry without its holes.
    /// - Parameters:
    ///   - length: of the entry.
    ///   - body: called with bytes and their offset in the file, ascending.
    public func content(
        length: Int64, _ body: (_ bytes: RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint) {
        var end: Int64 = 0
        try tar.content { bytes, offset throws(Complaint) in
            guard offset >= end, offset <= length, Int64(bytes.byteCount) <= length - offset else {
                throw origin.complaint(.outOfOrder)
            }
            try body(bytes, offset)
            end = offset + Int64(bytes.byteCount)
        }
    }

    /// Reads the end, and checks the seal over all that was read.
    /// - Returns: the SHA-256 of the whole file.
    /// - Throws: ``Complaint`` of kind `invalidTemplate`.
    public func finish() throws(Complaint) -> [UInt8] {
        let rest = PageBuffer(count: 4096)
        guard try decompressed.read(into: rest) == 0 else {
            throw origin.complaint(ArchiveFlaw("has something behind its last entry; use another copy of it"))
        }
        return try sealed.finish()
    }
}

extension ArchiveFlaw {
    static let outOfOrder = ArchiveFlaw("was altered: the content of a file is out of order; use another copy of it")

    /// - Parameter found: the SHA-256 that the template has.
    public static func otherDigest(_ found: [UInt8]) -> ArchiveFlaw {
        ArchiveFlaw("has another digest than the one that was asked for: \(OCIDigest.text(found))")
    }
}
