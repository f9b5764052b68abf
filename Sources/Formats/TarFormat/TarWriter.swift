// Writing a tar through libarchive.

import CArchive
import Glibc
import Platform
public import SandboxModel

/// Writes entries one after the other to a ``TarOutput``, in the pax format (POSIX.1-2001).
@safe public final class TarWriter {
    private let output: any TarOutput
    private let callbackOutput: CallbackOutput
    // From archive_write_new and archive_entry_new, freed with this value and never before. libarchive sets the
    // character set of names once for an archive, so one writes the entries whose names are UTF-8, the other all
    // others.
    @unsafe private let text: OpaquePointer
    @unsafe private let binary: OpaquePointer
    @unsafe private let header: OpaquePointer
    @unsafe private var current: OpaquePointer

    /// - Throws: ENOMEM.
    public init(_ output: any TarOutput) throws(SystemError) {
        let callbackOutput = CallbackOutput { (bytes, isContent) throws(SystemError) in
            try output.append(bytes, isContent: isContent)
        }
        guard let header = unsafe archive_entry_new(),
            let text = unsafe TarWriter.open(callbackOutput, isBinary: false),
            let binary = unsafe TarWriter.open(callbackOutput, isBinary: true)
        else { throw SystemError(code: ENOMEM) }
        (self.output, self.callbackOutput) = (output, callbackOutput)
        unsafe (self.text, self.binary, self.header, current) = (text, binary, header, text)
    }

    deinit {
        // An archive marked as failed writes nothing when it is freed.
        unsafe archive_write_fail(text)
        unsafe archive_write_fail(binary)
        unsafe archive_write_free(text)
        unsafe archive_write_free(binary)
        unsafe archive_entry_free(header)
    }

    /// Opens a writer of libarchive.
    /// - Returns: nil if there is no memory.
    @unsafe private static func open(_ output: CallbackOutput, isBinary: Bool) -> OpaquePointer? {
        guard let archive = unsafe archive_write_new() else { return nil }
        // SCHILY: attributes only in the records of GNU tar and star, not in libarchive's own too. 0: no buffering.
        var isReady =
            unsafe archive_write_set_format_pax(archive) == ARCHIVE_OK
            && archive_write_set_format_option(archive, "pax", "xattrheader", "SCHILY") == ARCHIVE_OK
            && archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK
        if isBinary, isReady {
            isReady = unsafe archive_write_set_format_option(archive, "pax", "hdrcharset", "BINARY") == ARCHIVE_OK
        }
        // The writer owns both, and frees the archive first.
        if isReady { isReady = unsafe output.receive(from: archive) }
        if !isReady {
            unsafe archive_write_free(archive)
            return nil
        }
        return unsafe archive
    }

    // MARK: Entries

    /// Writes the header of an entry. Exactly its content has to follow, then ``end()``.
    /// - Throws: errors of the output; EINVAL for a header that libarchive refuses.
    public func begin(_ entry: TarEntry) throws(SystemError) {
        unsafe archive_entry_clear(header)
        var isText = String(validating: entry.path, as: UTF8.self) != nil
        let header = unsafe header
        unsafe TarWriter.withText(entry.path) { unsafe archive_entry_copy_pathname(header, $0) }
        unsafe archive_entry_set_perm(header, entry.permissions)
        unsafe archive_entry_set_uid(header, Int64(entry.owner))
        unsafe archive_entry_set_gid(header, Int64(entry.group))
        unsafe archive_entry_set_mtime(header, entry.modified.tv_sec, entry.modified.tv_nsec)
        unsafe archive_entry_set_size(header, 0)
        switch entry.kind {
        case .file(let length, let data):
            unsafe archive_entry_set_filetype(header, S_IFREG)
            unsafe archive_entry_set_size(header, length)
            guard TarEntry.file(length) != entry.kind else { break }
            for range in data { unsafe archive_entry_sparse_add_entry(header, range.lowerBound, Int64(range.count)) }
            // A file that is one hole.
            if data.isEmpty { unsafe archive_entry_sparse_add_entry(header, 0, 0) }
        case .directory: unsafe archive_entry_set_filetype(header, S_IFDIR)
        case .fifo: unsafe archive_entry_set_filetype(header, S_IFIFO)
        case .symbolicLink(let target):
            unsafe archive_entry_set_filetype(header, S_IFLNK)
            unsafe TarWriter.withText(target) { unsafe archive_entry_copy_symlink(header, $0) }
            isText = isText && String(validating: target, as: UTF8.self) != nil
        case .hardLink(let target):
            unsafe archive_entry_set_filetype(header, S_IFREG)
            unsafe TarWriter.withText(target) { unsafe archive_entry_copy_hardlink(header, $0) }
            isText = isText && String(validating: target, as: UTF8.self) != nil
        }
        // libarchive writes attributes in reverse order.
        for attribute in entry.attributes.reversed() {
            unsafe TarWriter.withText(attribute.name) { name in
                unsafe attribute.value.withUnsafeBytes {
                    unsafe archive_entry_xattr_add_entry(header, name, $0.baseAddress, $0.count)
                }
            }
        }
        let archive = unsafe isText ? text : binary
        unsafe current = archive
        try callbackOutput.check(ThreadLocale.utf8 { unsafe archive_write_header(archive, header) } == ARCHIVE_OK)
        // libarchive writes the map of holes with the first content, even if that is empty.
        try callbackOutput.check(unsafe archive_write_data(archive, "", 0) == 0)
    }

    /// Lends bytes as a C string.
    @unsafe private static func withText(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Void) {
        unsafe (bytes + [0]).withUnsafeBytes { unsafe body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }

    /// Writes content of the entry.
    public func write(_ bytes: borrowing RawSpan) throws(SystemError) {
        callbackOutput.isContent = true
        defer { callbackOutput.isContent = false }
        let archive = unsafe current
        // The span is valid for the call.
        let count = unsafe bytes.withUnsafeBytes { unsafe archive_write_data(archive, $0.baseAddress, $0.count) }
        try callbackOutput.check(count == bytes.byteCount)
    }

    private static let zeros = PageBuffer(count: 1 << 20)

    /// Skips a hole of the entry's content. libarchive drops the zeros, and the output takes note of the hole.
    public func write(hole count: Int64) throws(SystemError) {
        guard count > 0 else { return }
        var left = count
        while left > 0 {
            let piece = Int(min(left, Int64(TarWriter.zeros.count)))
            try callbackOutput.check(unsafe archive_write_data(current, TarWriter.zeros.base, piece) == piece)
            left -= Int64(piece)
        }
        try output.append(hole: count)
    }

    /// Ends the entry, all of whose content is written.
    public func end() throws(SystemError) {
        try callbackOutput.check(unsafe archive_write_finish_entry(current) == ARCHIVE_OK)
    }

    /// Ends the archive: two blocks of zeros.
    public func close() throws(SystemError) {
        try callbackOutput.check(unsafe archive_write_close(text) == ARCHIVE_OK)
    }
}
