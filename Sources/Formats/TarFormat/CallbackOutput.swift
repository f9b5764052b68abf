// The receiving end of an archive that libarchive writes.

import CArchive
import Glibc
import Platform
import SandboxModel

/// The state of libarchive's write callback.
final class CallbackOutput {
    typealias Append = (_ bytes: borrowing RawSpan, _ isContent: Bool) throws(SystemError) -> Void

    private let append: Append
    /// Whether the bytes are content of an entry, rather than a header or padding.
    var isContent = false
    /// The error of a callback, which libarchive cannot pass on.
    private var failure: SystemError?

    init(_ append: @escaping Append) { self.append = append }

    /// Has an archive write to this value, which the archive's owner keeps for longer than the archive.
    /// - Returns: false if libarchive refuses, or the first bytes are refused.
    @unsafe func receive(from archive: OpaquePointer) -> Bool {
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe archive_write_open(
            archive, pointer, nil,
            { _, output, bytes, count in
                let output = unsafe Unmanaged<CallbackOutput>.fromOpaque(output!).takeUnretainedValue()
                guard let bytes = unsafe bytes else { return -1 }
                // The bytes are libarchive's, and valid during the call.
                return output.take(unsafe RawSpan(_unsafeStart: bytes, byteCount: count)) ? count : -1
            }, nil) == ARCHIVE_OK
    }

    /// - Returns: false after a failure.
    private func take(_ bytes: borrowing RawSpan) -> Bool {
        do throws(SystemError) {
            try append(bytes, isContent)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Throws the error of the callback, or EINVAL for one of libarchive, unless a call succeeded.
    func check(_ isDone: Bool) throws(SystemError) {
        guard isDone else { throw failure ?? SystemError(code: EINVAL) }
    }
}
