// Compressed archives (gzip, xz, zstd), through libarchive.

import CArchive
import Glibc
import Platform
import SandboxModel

/// A ``TarInput`` that decompresses the archive. Users compress backups with tools of their own.
@safe final class DecompressedInput: TarInput {
    private let file: Descriptor
    private let name: String
    // From archive_read_new, freed with this value and never before.
    @unsafe private let archive: OpaquePointer

    /// Whether a file is compressed, by the magic numbers of gzip, zstd and xz.
    /// - Parameter beginning: the first bytes of the file.
    static func isCompressed(_ beginning: [UInt8]) -> Bool {
        [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]].contains {
            beginning.starts(with: $0)
        }
    }

    /// - Parameter file: at its beginning. libarchive uses its file position, so no other code may.
    init(_ file: consuming Descriptor, name: String) throws(Complaint) {
        self.name = name
        let number = file.number
        // The descriptor is closed after the archive is freed, which leaves it open.
        self.file = file
        guard let archive = unsafe archive_read_new() else { throw Complaint(.unexpected, "there is no memory left") }
        unsafe self.archive = archive
        // Only these filters and the raw format, so that no other parser of libarchive can be reached.
        unsafe archive_read_support_filter_gzip(archive)
        unsafe archive_read_support_filter_xz(archive)
        unsafe archive_read_support_filter_zstd(archive)
        unsafe archive_read_support_format_raw(archive)
        var entry: OpaquePointer?
        guard unsafe archive_read_open_fd(archive, number, 256 << 10) == ARCHIVE_OK,
            unsafe archive_read_next_header(archive, &entry) == ARCHIVE_OK
        else { throw failure }
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    /// libarchive's last error: of the host for the errno values that only the host gives, else damage.
    private var failure: Complaint {
        let code = unsafe archive_errno(archive)
        if [EIO, ENOMEM, ESTALE].contains(code) {
            return Complaint(SystemError(code: code), doing: "cannot read \(name)")
        }
        return BackupFlaw("is cut short or damaged: it cannot be decompressed; use another copy of it")
            .complaint(about: name)
    }

    func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        // libarchive writes at most the buffer's count.
        let count = unsafe archive_read_data(archive, buffer.base, buffer.count)
        guard count >= 0 else { throw failure }
        return count
    }

    /// Decompressed bytes can only be read.
    func skip(_ count: Int64) -> Bool { false }
}
