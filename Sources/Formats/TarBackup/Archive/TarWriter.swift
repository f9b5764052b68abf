// The writing of a tar through libarchive. The only file of this room that makes it write.

import BackupModel
import CArchive
import Glibc
import Platform
import SandboxModel

/// Writes entries one after the other. What comes out goes to a ``HashedOutput``.
@safe final class TarWriter {
    /// What libarchive gives its bytes to.
    private final class Outlet {
        let output: HashedOutput
        /// Whether the bytes are content of an entry, rather than what stands before or fills up behind it.
        var isContent = false
        var failure: SystemError?

        init(_ output: HashedOutput) { self.output = output }

        func take(_ bytes: borrowing RawSpan) -> Bool {
            do throws(SystemError) {
                try output.append(bytes, isContent: isContent)
                return true
            } catch {
                failure = error
                return false
            }
        }
    }

    private let outlet: Outlet
    // From archive_write_new and archive_entry_new, freed with this value and never before. libarchive is told the character
    // set of names once for an archive: one value writes the entries whose names are UTF-8, the other all others.
    @unsafe private let text: OpaquePointer
    @unsafe private let binary: OpaquePointer
    @unsafe private let header: OpaquePointer
    @unsafe private var current: OpaquePointer

    init(_ output: HashedOutput) throws(SystemError) {
        let outlet = Outlet(output)
        guard let header = unsafe archive_entry_new(), let text = unsafe TarWriter.open(outlet, isBinary: false),
            let binary = unsafe TarWriter.open(outlet, isBinary: true)
        else { throw SystemError(code: ENOMEM) }
        self.outlet = outlet
        unsafe (self.text, self.binary, self.header, current) = (text, binary, header, text)
    }

    deinit {
        // A failed one writes nothing more.
        unsafe archive_write_fail(text)
        unsafe archive_write_fail(binary)
        unsafe archive_write_free(text)
        unsafe archive_write_free(binary)
        unsafe archive_entry_free(header)
    }

    /// - Returns: nil without memory.
    @unsafe private static func open(_ outlet: Outlet, isBinary: Bool) -> OpaquePointer? {
        guard let archive = unsafe archive_write_new() else { return nil }
        // The attributes' records that GNU tar and star have, and not libarchive's own beside them. No buffer in between.
        var isReady =
            unsafe archive_write_set_format_pax(archive) == ARCHIVE_OK
            && archive_write_set_format_option(archive, "pax", "xattrheader", "SCHILY") == ARCHIVE_OK
            && archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK
        if isBinary, isReady {
            isReady = unsafe archive_write_set_format_option(archive, "pax", "hdrcharset", "BINARY") == ARCHIVE_OK
        }
        // The outlet belongs to the writer, which frees the archive first.
        let pointer = unsafe Unmanaged.passUnretained(outlet).toOpaque()
        let opened = unsafe archive_write_open(
            archive, pointer, nil,
            { _, outlet, bytes, count in
                let outlet = unsafe Unmanaged<Outlet>.fromOpaque(outlet!).takeUnretainedValue()
                guard let bytes = unsafe bytes else { return -1 }
                // libarchive's bytes, for the time of the call.
                let isTaken = outlet.take(unsafe RawSpan(_unsafeStart: bytes, byteCount: count))
                return isTaken ? count : -1
            }, nil)
        if !isReady || opened != ARCHIVE_OK {
            unsafe archive_write_free(archive)
            return nil
        }
        return unsafe archive
    }

    private func check(_ isDone: Bool) throws(SystemError) {
        guard isDone else { throw outlet.failure ?? SystemError(code: EINVAL) }
    }

    // MARK: Entries

    /// Writes what stands before the content of an entry.
    func begin(_ entry: TarEntry) throws(SystemError) {
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
            // Nothing but a hole.
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
        // libarchive writes the last one first.
        for attribute in entry.attributes.reversed() {
            unsafe TarWriter.withText(attribute.name) { name in
                unsafe attribute.value.withUnsafeBytes {
                    unsafe archive_entry_xattr_add_entry(header, name, $0.baseAddress, $0.count)
                }
            }
        }
        let archive = unsafe isText ? text : binary
        unsafe current = archive
        try check(ThreadLocale.utf8 { unsafe archive_write_header(archive, header) } == ARCHIVE_OK)
        // The map of a file with holes comes with the first bytes of content, be there none of them.
        try check(unsafe archive_write_data(archive, "", 0) == 0)
    }

    /// Lends bytes as a C string.
    @unsafe private static func withText(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Void) {
        unsafe (bytes + [0]).withUnsafeBytes { unsafe body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }

    func write(_ bytes: borrowing RawSpan) throws(SystemError) {
        outlet.isContent = true
        defer { outlet.isContent = false }
        let archive = unsafe current
        // The span is valid for the call.
        let count = unsafe bytes.withUnsafeBytes { unsafe archive_write_data(archive, $0.baseAddress, $0.count) }
        try check(count == bytes.byteCount)
    }

    private static let zeros = PageBuffer(count: 1 << 20)

    /// Passes over a hole.
    func write(hole count: Int64) throws(SystemError) {
        guard count > 0 else { return }
        var left = count
        while left > 0 {
            let piece = Int(min(left, Int64(TarWriter.zeros.count)))
            try check(unsafe archive_write_data(current, TarWriter.zeros.base, piece) == piece)
            left -= Int64(piece)
        }
        try outlet.output.append(.zeros(count))
    }

    /// Ends the entry that was begun last, of which all content has to be there.
    func end() throws(SystemError) {
        try check(unsafe archive_write_finish_entry(current) == ARCHIVE_OK)
    }

    /// Ends the archive: two blocks of zeros.
    func close() throws(SystemError) {
        try check(unsafe archive_write_close(text) == ARCHIVE_OK)
    }
}
