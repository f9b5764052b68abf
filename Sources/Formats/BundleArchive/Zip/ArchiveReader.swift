// The content of a zip archive, through libarchive. The module's only file that calls it.

import CArchive
import Glibc
import Platform
import SandboxModel

/// An archive that is read from its first entry to its last.
@safe struct ArchiveReader: ~Copyable {
    enum Failure: Error {
        /// libarchive cannot parse the archive, or a checksum or a length is wrong.
        case damaged
        case host(SystemError)
    }

    /// An entry as libarchive reports it.
    struct Header {
        /// S_IFREG and its siblings.
        let type: mode_t
        let modification: timespec
        /// The reader's byte offset in the archive: for all but links, where the content begins.
        let position: Int64
        /// Whether libarchive returned ARCHIVE_WARN.
        let isDoubtful: Bool
    }

    /// The archive's file. libarchive uses its file position, so that others read with pread(2).
    let file: Descriptor
    /// From archive_read_new, freed with this value and never before.
    private let archive: OpaquePointer
    /// The entry of the last header: the archive's own, and valid until the next header is read.
    private var entry: OpaquePointer?

    /// Opens a zip archive. No other format and no filter is enabled, so that no other parser of libarchive can be
    /// reached. The seekable reader uses the central directory; the streaming one guesses.
    static func open(_ file: consuming Descriptor) throws(Failure) -> ArchiveReader {
        guard let archive = unsafe archive_read_new() else { throw .host(SystemError(code: ENOMEM)) }
        let number = file.number
        // The descriptor is closed after the archive is freed, which leaves it open.
        let reader = unsafe ArchiveReader(file: file, archive: archive)
        guard unsafe archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK,
            unsafe archive_read_open_fd(archive, number, 256 << 10) == ARCHIVE_OK
        else { throw reader.failure }
        return reader
    }

    @unsafe private init(file: consuming Descriptor, archive: OpaquePointer) {
        self.file = file
        unsafe self.archive = archive
        unsafe entry = nil
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    /// libarchive's last error: of the host for the errno values that only the host gives, else of the archive.
    private var failure: Failure {
        let code = unsafe archive_errno(archive)
        return [EIO, ENOMEM, ESTALE, EISDIR].contains(code) ? .host(SystemError(code: code)) : .damaged
    }

    /// Reads the header of the next entry.
    /// - Returns: nil after the last entry.
    mutating func next() throws(Failure) -> Header? {
        unsafe entry = nil
        let result = unsafe archive_read_next_header(archive, &entry)
        if result == ARCHIVE_EOF { return nil }
        guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry = unsafe entry else { throw failure }
        let nanoseconds = unsafe archive_entry_mtime_nsec(entry)
        return unsafe Header(
            type: archive_entry_filetype(entry),
            modification: timespec(
                tv_sec: archive_entry_mtime(entry), tv_nsec: min(max(nanoseconds, 0), 999_999_999)),
            position: archive_filter_bytes(archive, 0),
            isDoubtful: result == ARCHIVE_WARN)
    }

    /// The target of the entry, which is a symbolic link; nil if libarchive has none.
    borrowing func linkTarget() -> [UInt8]? {
        // The string belongs to the entry, and is copied before the next call.
        guard let entry = unsafe entry, let target = unsafe archive_entry_symlink(entry) else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
    }

    /// Reads the next part of the entry's content into the buffer.
    /// - Returns: the number of bytes; 0 at the end, when checksum and length have been verified.
    borrowing func read(into buffer: PageBuffer) throws(Failure) -> Int {
        // libarchive writes at most the buffer's count.
        let count = unsafe archive_read_data(archive, buffer.base, buffer.count)
        guard count >= 0 else { throw failure }
        return count
    }
}
