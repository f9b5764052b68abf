// Reading a tar through libarchive. The module's only file that has libarchive parse one.

import CArchive
import Glibc
import Platform
public import SandboxModel

/// An archive that is read from its first entry to its last.
@safe public final class TarReader {
    /// The limit in bytes of an entry's extended header and map of holes; a million ranges take some 24 MiB.
    private static let longestHeader: Int64 = 64 << 20

    private let origin: ArchiveOrigin
    private let callbackInput: CallbackInput
    // From archive_read_new, freed with this value and never before.
    @unsafe private let archive: OpaquePointer
    private var isAtFirst = true
    private var isInEntry = false

    public init(_ input: any ArchiveInput, from origin: ArchiveOrigin) throws(Complaint) {
        (self.origin, callbackInput) = (origin, CallbackInput(input))
        guard let archive = unsafe archive_read_new() else { throw Complaint(.unexpected, "there is no memory left") }
        unsafe self.archive = archive
        // No filter and no other format, so that no other parser of libarchive can be reached.
        unsafe archive_read_support_format_tar(archive)
        // The input is freed after the archive.
        guard unsafe callbackInput.open(archive) else { throw failure }
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    /// The last error: a callback's, or libarchive's as a flaw of the archive.
    private var failure: Complaint {
        if let failure = callbackInput.failure { return failure }
        if unsafe archive_errno(archive) == ENOMEM {
            return Complaint(SystemError(code: ENOMEM), doing: "cannot read \(origin.name)")
        }
        if isAtFirst { return origin.complaint(origin.foreign) }
        if callbackInput.isAtEnd { return origin.complaint(.cutShort) }
        return origin.complaint(
            ArchiveFlaw("was altered: what should be the header of an entry is none; use another copy of it"))
    }

    // MARK: Entries

    /// The byte offset of the current entry's header.
    public var entryStart: Int64 { unsafe archive_read_header_position(archive) }

    /// Whether the archive ends after so many bytes.
    public func ends(at length: Int64) -> Bool { callbackInput.read() == 0 && callbackInput.position == length }

    /// Reads the header of the next entry, after the rest of the current one.
    /// - Returns: nil at the end of the archive.
    /// - Throws: ``Complaint`` of the archive's kind for a malformed one, or with the host's error.
    public func next() throws(Complaint) -> TarEntry? {
        if isInEntry {
            isInEntry = false
            guard unsafe archive_read_data_skip(archive) >= ARCHIVE_OK else { throw failure }
        }
        callbackInput.allowance = TarReader.longestHeader
        defer { callbackInput.allowance = .max }
        var header: OpaquePointer?
        // In the C locale libarchive cannot convert names from UTF-8: it warns, and gives their bytes. In a UTF-8
        // locale it would compose characters.
        let result = ThreadLocale.ascii { unsafe archive_read_next_header(archive, &header) }
        if result == ARCHIVE_EOF { return nil }
        guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let header = unsafe header else { throw failure }
        (isAtFirst, isInEntry) = (false, true)
        let (entry, isASCII) = try origin.checking { () throws(ArchiveFlaw) in
            try unsafe TarReader.entry(header)
        }
        // Names in ASCII need no conversion, so the warning is about something else.
        guard result == ARCHIVE_OK || !isASCII else { throw failure }
        return entry
    }

    /// Copies a header of libarchive.
    /// - Returns: the entry, and whether its names are ASCII.
    @unsafe private static func entry(_ header: OpaquePointer) throws(ArchiveFlaw) -> (TarEntry, isASCII: Bool) {
        var path = unsafe bytes(archive_entry_pathname(header))
        let size = unsafe archive_entry_size(header)
        let kind: TarEntry.Kind
        var target: [UInt8] = []
        var isFile = false
        // Before the type, which tar does not store for a hard link.
        if let link = unsafe archive_entry_hardlink(header) {
            target = unsafe bytes(link)
            kind = .hardLink(target)
        } else {
            switch unsafe archive_entry_filetype(header) {
            case S_IFREG:
                isFile = true
                kind = .file(length: size, data: try unsafe data(header, path, size))
            case S_IFDIR: kind = .directory
            case S_IFIFO: kind = .fifo
            case S_IFLNK:
                target = unsafe bytes(archive_entry_symlink(header))
                kind = .symbolicLink(target)
            case S_IFCHR, S_IFBLK: throw ArchiveFlaw("has a device node, which no container holds: \(path.shown)")
            default: throw ArchiveFlaw("has an entry of a kind that is none of an app's files: \(path.shown)")
            }
        }
        // An archive has a slash behind a directory's name.
        if kind == .directory, path.last == UInt8(ascii: "/") { path.removeLast() }
        guard isFile || size == 0 else {
            throw ArchiveFlaw("has content where an entry of its kind has none: \(path.shown)")
        }
        var entry = TarEntry(path: path, kind: kind)
        // A pax header holds numbers of any size.
        entry.permissions = unsafe archive_entry_perm(header) & 0o7777
        let (user, users) = unsafe (archive_entry_uid(header), archive_entry_gid(header))
        guard let owner = uid_t(exactly: user), let group = gid_t(exactly: users) else {
            throw ArchiveFlaw("has an owner that no entry can have: \(user):\(users) of \(path.shown)")
        }
        (entry.owner, entry.group) = (owner, group)
        entry.modified = unsafe timespec(
            tv_sec: archive_entry_mtime(header), tv_nsec: archive_entry_mtime_nsec(header))
        entry.attributes = unsafe attributes(header)
        return (entry, (path + target).allSatisfy { $0 < 0x80 })
    }

    /// The ranges of a file that are not holes.
    @unsafe private static func data(
        _ header: OpaquePointer, _ path: [UInt8], _ size: Int64
    ) throws(ArchiveFlaw) -> [Range<Int64>] {
        guard (0...TarEntry.longestContent).contains(size) else {
            throw ArchiveFlaw("has a file of more than \(TarEntry.longestContent) bytes: \(path.shown)")
        }
        guard unsafe archive_entry_sparse_reset(header) > 0 else { return size == 0 ? [] : [0..<size] }
        var data: [Range<Int64>] = []
        var (offset, length): (Int64, Int64) = (0, 0)
        while unsafe archive_entry_sparse_next(header, &offset, &length) == ARCHIVE_OK {
            // libarchive has dropped ranges beyond the file's end.
            if length > 0 { data.append(offset..<(offset + length)) }
        }
        return try TarEntry.joined(data, length: size)
    }

    /// The extended attributes of a header, sorted by name.
    @unsafe private static func attributes(_ header: OpaquePointer) -> [TarEntry.Attribute] {
        var attributes: [TarEntry.Attribute] = []
        unsafe archive_entry_xattr_reset(header)
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while unsafe archive_entry_xattr_next(header, &name, &value, &count) == ARCHIVE_OK {
            attributes.append(
                TarEntry.Attribute(
                    name: unsafe bytes(name).unescaped,
                    value: unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: count))))
        }
        return attributes.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// A copy of a string that belongs to the header.
    @unsafe private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
        guard let text = unsafe text else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    // MARK: Content

    /// Reads the content of the current entry without its holes.
    /// - Parameter body: called with bytes and their offset in the file, ascending.
    public func content(_ body: (_ bytes: RawSpan, _ offset: Int64) throws(Complaint) -> Void) throws(Complaint) {
        while true {
            var bytes: UnsafeRawPointer?
            var (count, offset): (Int, Int64) = (0, 0)
            let result = unsafe archive_read_data_block(archive, &bytes, &count, &offset)
            if result == ARCHIVE_EOF { return }
            guard result == ARCHIVE_OK, let bytes = unsafe bytes else { throw failure }
            // The bytes are valid until the next call of libarchive.
            try body(unsafe RawSpan(_unsafeStart: bytes, byteCount: count), offset)
        }
    }
}

extension [UInt8] {
    /// The name of an attribute, in which libarchive writes some bytes as `%` and two digits.
    fileprivate var unescaped: [UInt8] {
        guard contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).map { $0 | 0x20 }
            if byte == UInt8(ascii: "%"), let known = [UInt8](hexadecimal: digits[...]), known.count == 1 {
                bytes += known
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
