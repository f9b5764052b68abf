// Compressed archives (gzip, xz, zstd), through libarchive.

import CArchive
import Glibc
public import Platform
public import SandboxModel

/// An ``ArchiveInput`` that decompresses another.
@safe public final class DecompressedInput: ArchiveInput {
    /// A format of compression.
    public enum Format: CaseIterable, Sendable {
        case gzip, xz, zstandard

        /// The bytes that a file begins with.
        public var magic: [UInt8] {
            switch self {
            case .gzip: [0x1F, 0x8B]
            case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]
            case .zstandard: [0x28, 0xB5, 0x2F, 0xFD]
            }
        }
    }

    private let origin: ArchiveOrigin
    private let callbackInput: CallbackInput
    // From archive_read_new, freed with this value and never before.
    @unsafe private let archive: OpaquePointer

    /// The format of a file, by its magic number.
    /// - Parameter beginning: the first bytes of the file.
    /// - Returns: nil for one that is not compressed.
    public static func format(of beginning: [UInt8]) -> Format? {
        Format.allCases.first { beginning.starts(with: $0.magic) }
    }

    /// - Parameter input: at its beginning.
    public init(_ input: any ArchiveInput, _ format: Format, from origin: ArchiveOrigin) throws(Complaint) {
        (self.origin, callbackInput) = (origin, CallbackInput(input))
        guard let archive = unsafe archive_read_new() else { throw Complaint(.unexpected, "there is no memory left") }
        unsafe self.archive = archive
        // Only this filter and the raw format, so that no other parser of libarchive can be reached.
        switch format {
        case .gzip: unsafe archive_read_support_filter_gzip(archive)
        case .xz: unsafe archive_read_support_filter_xz(archive)
        case .zstandard: unsafe archive_read_support_filter_zstd(archive)
        }
        unsafe archive_read_support_format_raw(archive)
        var entry: OpaquePointer?
        // The input is freed after the archive.
        guard unsafe callbackInput.open(archive), unsafe archive_read_next_header(archive, &entry) == ARCHIVE_OK
        else { throw failure }
        // libarchive would hand bytes on that are not compressed.
        guard unsafe archive_filter_code(archive, 0) != ARCHIVE_FILTER_NONE else {
            throw origin.complaint(origin.foreign)
        }
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    /// The input's error, that of the host for the errno values that only the host gives, else damage.
    private var failure: Complaint {
        if let failure = callbackInput.failure { return failure }
        let code = unsafe archive_errno(archive)
        if code == ENOMEM { return Complaint(SystemError(code: code), doing: "cannot read \(origin.name)") }
        return origin.complaint(
            ArchiveFlaw("is cut short or damaged: it cannot be decompressed; use another copy of it"))
    }

    public func read(into buffer: PageBuffer) throws(Complaint) -> Int {
        // libarchive writes at most the buffer's count.
        let count = unsafe archive_read_data(archive, buffer.base, buffer.count)
        guard count >= 0 else { throw failure }
        return count
    }

    /// Decompressed bytes can only be read.
    public func skip(_ count: Int64) -> Bool { false }
}
