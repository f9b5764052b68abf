// The contents of a zip archive through libarchive. The only file that calls it.

import CArchive
import Glibc
import Platform
import SandboxModel

/// An archive that is being read from its first entry to its last.
@safe struct ArchiveReader: ~Copyable {
    enum Failure: Error {
        /// libarchive cannot make sense of it, or found a checksum or a length to be wrong.
        case damaged
        case host(SystemError)
    }

    /// What libarchive makes of an entry.
    struct Header {
        /// S_IFREG and its siblings.
        let type: mode_t
        let modification: timespec
        /// Where in the archive the reader stands: for all but links, where the content begins.
        let position: Int64
        /// Whether libarchive found fault with the header, and went on.
        let isDoubtful: Bool
    }

    /// Read from here too, at places of the caller's own: libarchive shares its position with nobody.
    let file: Descriptor
    /// From archive_read_new, freed with this value and never before.
    private let archive: OpaquePointer
    /// The entry of the last header: the archive's own, and valid until the next header is read.
    private var entry: OpaquePointer?

    /// Opens a zip archive. No other format and no filter is asked for, so that no other of libarchive's parsers can
    /// be reached; and only the reader of central directories, since the other one guesses.
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

    /// What the host says of its own; everything else that libarchive says lies in the archive.
    private var failure: Failure {
        let code = unsafe archive_errno(archive)
        return [EIO, ENOMEM, ESTALE, EISDIR].contains(code) ? .host(SystemError(code: code)) : .damaged
    }

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

    /// The target of the entry, which is a symbolic link; nil when libarchive has none.
    borrowing func linkTarget() -> [UInt8]? {
        // A string of the entry's own; copied before anything else is asked of it.
        guard let entry = unsafe entry, let target = unsafe archive_entry_symlink(entry) else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
    }

    /// Reads on in the content of the entry, as much as the buffer holds.
    /// - Returns: how many bytes; 0 at the end, when checksum and length were found to be right.
    borrowing func read(into buffer: PageBuffer) throws(Failure) -> Int {
        // libarchive writes no more than the buffer's count, which is the memory's.
        let count = unsafe archive_read_data(archive, buffer.base, buffer.count)
        guard count >= 0 else { throw failure }
        return count
    }
}
