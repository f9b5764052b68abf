// The reading of a tar through libarchive. The only file of this room that makes it parse one.

import BackupModel
import CArchive
import Glibc
import Platform
import SandboxModel

/// An archive that is being read from its first entry to its last.
@safe final class TarReader {
    /// What libarchive takes its bytes from.
    private final class Inlet {
        let input: any TarInput
        let buffer = PageBuffer(count: 256 << 10)
        /// Bytes that were read or passed over.
        var position: Int64 = 0
        var isAtEnd = false
        /// How many more bytes may be read, so that no entry takes up the memory with what stands before its content.
        var allowance = Int64.max
        var failure: Complaint?

        init(_ input: any TarInput) { self.input = input }

        /// - Returns: how many bytes; 0 at the end, less after a failure.
        func read() -> Int {
            do throws(Complaint) {
                guard allowance > 0 else { return -1 }
                let count = try input.read(into: buffer)
                if count == 0 { isAtEnd = true }
                position += Int64(count)
                allowance -= Int64(count)
                return count
            } catch {
                failure = error
                return -1
            }
        }

        /// - Returns: how many bytes; 0 where they have to be read. libarchive would ask for ever after a number below it.
        func skip(_ count: Int64) -> Int64 {
            guard input.skip(count) else { return 0 }
            position += count
            return count
        }
    }

    /// Extended records, and the map of a file's holes: of a million pieces it has some 24 MiB.
    private static let longestHeader: Int64 = 64 << 20

    private let name: String
    private let inlet: Inlet
    // From archive_read_new, freed with this value and never before.
    @unsafe private let archive: OpaquePointer
    private var isAtFirst = true
    private var isInEntry = false

    init(_ input: any TarInput, name: String) throws(Complaint) {
        (self.name, inlet) = (name, Inlet(input))
        guard let archive = unsafe archive_read_new() else { throw Complaint(.unexpected, "there is no memory left") }
        unsafe self.archive = archive
        // No filter, and no format but this: no other of libarchive's parsers can be reached.
        unsafe archive_read_support_format_tar(archive)
        // The inlet belongs to this value, which frees the archive first.
        let pointer = unsafe Unmanaged.passUnretained(inlet).toOpaque()
        let result = unsafe archive_read_open2(
            archive, pointer, nil,
            { _, inlet, bytes in
                let inlet = unsafe Unmanaged<Inlet>.fromOpaque(inlet!).takeUnretainedValue()
                // The buffer is the inlet's, and has other bytes only when libarchive asks again.
                unsafe bytes!.pointee = unsafe UnsafeRawPointer(inlet.buffer.base)
                return inlet.read()
            },
            { _, inlet, count in
                unsafe Unmanaged<Inlet>.fromOpaque(inlet!).takeUnretainedValue().skip(count)
            }, nil)
        guard result == ARCHIVE_OK else { throw failure }
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    private var failure: Complaint {
        if let failure = inlet.failure { return failure }
        if unsafe archive_errno(archive) == ENOMEM {
            return Complaint(SystemError(code: ENOMEM), doing: "cannot read \(name)")
        }
        if isAtFirst { return BackupFlaw.notATar.complaint(about: name) }
        if inlet.isAtEnd { return BackupFlaw.cutShort.complaint(about: name) }
        return BackupFlaw("was altered: what should be the header of an entry is none; use another copy of it")
            .complaint(about: name)
    }

    // MARK: Entries

    /// Where the entry begins that was read last.
    var entryStart: Int64 { unsafe archive_read_header_position(archive) }

    /// Whether nothing comes after so many bytes.
    func ends(at length: Int64) -> Bool { inlet.read() == 0 && inlet.position == length }

    /// Reads what stands before the content of the next entry. What is left of the one before is passed over.
    /// - Returns: nil at the end of the archive.
    func next() throws(Complaint) -> TarEntry? {
        if isInEntry {
            isInEntry = false
            guard unsafe archive_read_data_skip(archive) >= ARCHIVE_OK else { throw failure }
        }
        inlet.allowance = TarReader.longestHeader
        defer { inlet.allowance = .max }
        var header: OpaquePointer?
        // From UTF-8 to ASCII it converts nothing, says so, and gives the names as they are. To UTF-8 it would compose
        // characters.
        let result = ThreadLocale.ascii { unsafe archive_read_next_header(archive, &header) }
        if result == ARCHIVE_EOF { return nil }
        guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let header = unsafe header else { throw failure }
        (isAtFirst, isInEntry) = (false, true)
        let (entry, isText) = try judging(name) { () throws(BackupFlaw) in try unsafe TarReader.entry(header) }
        guard result == ARCHIVE_OK || !isText else { throw failure }
        return entry
    }

    /// - Returns: the entry, and whether its names are ASCII.
    @unsafe private static func entry(_ header: OpaquePointer) throws(BackupFlaw) -> (TarEntry, isText: Bool) {
        var path = unsafe bytes(archive_entry_pathname(header))
        let size = unsafe archive_entry_size(header)
        let kind: TarEntry.Kind
        var target: [UInt8] = []
        var isFile = false
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
            case S_IFCHR, S_IFBLK: throw BackupFlaw("has a device node, which no container holds: \(path.shown)")
            default: throw BackupFlaw("has an entry of a kind that no backup has: \(path.shown)")
            }
        }
        if kind == .directory, path.last == UInt8(ascii: "/") { path.removeLast() }
        guard isFile || size == 0 else {
            throw BackupFlaw("has content where an entry of its kind has none: \(path.shown)")
        }
        var entry = TarEntry(path: path, kind: kind)
        // A header has room for numbers of any size.
        entry.permissions = unsafe archive_entry_perm(header) & 0o7777
        let (user, users) = unsafe (archive_entry_uid(header), archive_entry_gid(header))
        guard let owner = uid_t(exactly: user), let group = gid_t(exactly: users) else {
            throw BackupFlaw("has an owner that no entry can have: \(user):\(users) of \(path.shown)")
        }
        (entry.owner, entry.group) = (owner, group)
        entry.modified = unsafe timespec(
            tv_sec: archive_entry_mtime(header), tv_nsec: archive_entry_mtime_nsec(header))
        entry.attributes = unsafe attributes(header)
        return (entry, (path + target).allSatisfy { $0 < 0x80 })
    }

    /// Where the file has no holes.
    @unsafe private static func data(
        _ header: OpaquePointer, _ path: [UInt8], _ size: Int64
    ) throws(BackupFlaw) -> [Range<Int64>] {
        guard (0...TarEntry.longestContent).contains(size) else {
            throw BackupFlaw("has a file of more than \(TarEntry.longestContent) bytes: \(path.shown)")
        }
        guard unsafe archive_entry_sparse_reset(header) > 0 else { return size == 0 ? [] : [0..<size] }
        var data: [Range<Int64>] = []
        var (offset, length): (Int64, Int64) = (0, 0)
        while unsafe archive_entry_sparse_next(header, &offset, &length) == ARCHIVE_OK {
            // libarchive keeps no piece that reaches beyond the file's end.
            if length > 0 { data.append(offset..<(offset + length)) }
        }
        return try TarEntry.joined(data, length: size)
    }

    @unsafe private static func attributes(_ header: OpaquePointer) -> [BackupEntry.Attribute] {
        var attributes: [BackupEntry.Attribute] = []
        unsafe archive_entry_xattr_reset(header)
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while unsafe archive_entry_xattr_next(header, &name, &value, &count) == ARCHIVE_OK {
            attributes.append(
                BackupEntry.Attribute(
                    name: unsafe bytes(name).unescaped,
                    value: unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: count))))
        }
        return attributes.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// A copy of a string of the header's own.
    @unsafe private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
        guard let text = unsafe text else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    // MARK: Content

    /// Reads the content of the last entry, but for its holes.
    func content(_ body: (_ bytes: RawSpan, _ offset: Int64) throws(Complaint) -> Void) throws(Complaint) {
        while true {
            var bytes: UnsafeRawPointer?
            var (count, offset): (Int, Int64) = (0, 0)
            let result = unsafe archive_read_data_block(archive, &bytes, &count, &offset)
            if result == ARCHIVE_EOF { return }
            guard result == ARCHIVE_OK, let bytes = unsafe bytes else { throw failure }
            // Bytes of the inlet or of libarchive, which are there until it is asked for more.
            try body(unsafe RawSpan(_unsafeStart: bytes, byteCount: count), offset)
        }
    }
}

extension [UInt8] {
    /// The name of an attribute, of which libarchive writes many a byte as `%` and two digits.
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
