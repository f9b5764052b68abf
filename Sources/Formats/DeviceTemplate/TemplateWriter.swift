// Writing a template: its head, its seal, and the entries between them.

public import Glibc
import HashFunctions
public import Platform
public import SandboxModel
public import TarFormat

/// The facts of a finished template.
public struct TemplateFile: Hashable, Sendable {
    /// SHA-256 of the whole file.
    public let digest: [UInt8]
    /// Bytes of the whole file.
    public let size: Int64
}

/// The first entry of a template.
enum TemplateHead {
    static let path = Array("Template".utf8)
    /// The version of the format, which every newer version keeps readable.
    static let version = 1
    /// The limit of its content in bytes.
    static let longest: Int64 = 64
}

/// Writes a template from its beginning, to a file or a pipe: a tar (POSIX.1-2001 pax), compressed with zstd, and a
/// seal behind it.
public final class TemplateWriter {
    private let sealed: SealedOutput
    private let compressed: ZstandardOutput
    private let tar: TarWriter

    /// Writes the head.
    /// - Parameters:
    ///   - file: written from where it is.
    ///   - owner: the owner of the device.
    /// - Throws: errors of the host.
    public init(_ file: SharedDescriptor, owner: uid_t, group: gid_t) throws(SystemError) {
        sealed = SealedOutput(file)
        compressed = try ZstandardOutput(sealed)
        tar = try TarWriter(compressed)
        var head = TarEntry(path: TemplateHead.path, length: 0)
        (head.owner, head.group) = (owner, group)
        try add(head, content: Array("\(TemplateHead.version)\n".utf8))
    }

    /// Adds a file with this content.
    public func add(_ entry: TarEntry, content: [UInt8]) throws(SystemError) {
        var entry = entry
        entry.kind = TarEntry.file(Int64(content.count))
        try tar.begin(entry)
        try content.withSpan { (bytes) throws(SystemError) in try tar.write(bytes) }
        try tar.end()
    }

    /// Adds an entry without content.
    public func add(_ entry: TarEntry) throws(SystemError) {
        try tar.begin(entry)
        try tar.end()
    }

    /// Begins a file, whose content follows: with ``write(_:)`` and ``write(hole:)``, then ``end()``.
    public func begin(_ entry: TarEntry) throws(SystemError) { try tar.begin(entry) }

    public func write(_ bytes: borrowing RawSpan) throws(SystemError) { try tar.write(bytes) }

    public func write(hole count: Int64) throws(SystemError) { try tar.write(hole: count) }

    public func end() throws(SystemError) { try tar.end() }

    /// Writes the end and the seal. Does not synchronize the file.
    public func finish() throws(SystemError) -> TemplateFile {
        try tar.close()
        try compressed.finish()
        let digest = try sealed.finish()
        return TemplateFile(digest: digest, size: sealed.written)
    }
}
