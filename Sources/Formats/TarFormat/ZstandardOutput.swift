// Compressing with zstd (RFC 8878), through libarchive.

import CArchive
import Glibc
import Platform
public import SandboxModel

/// A ``TarOutput`` that compresses what it gets. The same bytes give the same frame, with the same libzstd.
@safe public final class ZstandardOutput: TarOutput {
    private let callbackOutput: CallbackOutput
    // From archive_write_new, freed with this value and never before.
    @unsafe private let archive: OpaquePointer

    /// - Throws: ENOMEM; errors of the output.
    public init(_ output: any ByteOutput) throws(SystemError) {
        let callbackOutput = CallbackOutput { (bytes, _) throws(SystemError) in try output.append(bytes) }
        self.callbackOutput = callbackOutput
        guard let archive = unsafe archive_write_new() else { throw SystemError(code: ENOMEM) }
        unsafe self.archive = archive
        // Most of a device is ciphertext, on which a higher level would only lose time. 0: no buffering.
        let isReady =
            unsafe archive_write_set_format_raw(archive) == ARCHIVE_OK
            && archive_write_add_filter_zstd(archive) == ARCHIVE_OK
            && archive_write_set_filter_option(archive, "zstd", "compression-level", "1") == ARCHIVE_OK
            && archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK
        // This object owns both, and frees the archive first.
        try callbackOutput.check(unsafe isReady && callbackOutput.receive(from: archive))
        // The raw format has one entry, of any length.
        guard let entry = unsafe archive_entry_new() else { throw SystemError(code: ENOMEM) }
        unsafe archive_entry_set_filetype(entry, S_IFREG)
        let result = unsafe archive_write_header(archive, entry)
        unsafe archive_entry_free(entry)
        try callbackOutput.check(result == ARCHIVE_OK)
    }

    deinit {
        // An archive marked as failed writes nothing when it is freed.
        unsafe archive_write_fail(archive)
        unsafe archive_write_free(archive)
    }

    public func append(_ bytes: borrowing RawSpan, isContent: Bool) throws(SystemError) {
        let archive = unsafe self.archive
        // The span is valid for the call.
        let count = unsafe bytes.withUnsafeBytes { unsafe archive_write_data(archive, $0.baseAddress, $0.count) }
        try callbackOutput.check(count == bytes.byteCount)
    }

    /// A hole is in the tar's map, and has no bytes.
    public func append(hole count: Int64) {}

    /// Ends the frame.
    public func finish() throws(SystemError) {
        try callbackOutput.check(unsafe archive_write_close(archive) == ARCHIVE_OK)
    }
}
