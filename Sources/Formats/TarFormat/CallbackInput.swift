// The callbacks with which libarchive reads.

import CArchive
import Platform
import SandboxModel

/// An ``ArchiveInput`` as the data of libarchive's callbacks.
final class CallbackInput {
    let input: any ArchiveInput
    let buffer = PageBuffer(count: 256 << 10)
    /// Bytes that were read or skipped.
    private(set) var position: Int64 = 0
    private(set) var isAtEnd = false
    /// The bytes that may still be read: a limit for headers, which libarchive holds in memory.
    var allowance = Int64.max
    /// The error of a callback, which libarchive cannot pass on.
    private(set) var failure: Complaint?

    init(_ input: any ArchiveInput) { self.input = input }

    /// - Returns: the number of bytes; 0 at the end, -1 after a failure.
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

    /// - Returns: the number of bytes skipped; 0 if they have to be read. libarchive would loop after a negative
    ///   number.
    private func skip(_ count: Int64) -> Int64 {
        guard input.skip(count) else { return 0 }
        position += count
        return count
    }

    /// Opens an archive that reads from here. This object has to outlive the archive.
    /// - Returns: whether libarchive succeeded.
    @unsafe func open(_ archive: OpaquePointer) -> Bool {
        // The pointer is valid as long as the archive, as the caller promises.
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe archive_read_open2(
            archive, pointer, nil,
            { _, input, bytes in
                let input = unsafe Unmanaged<CallbackInput>.fromOpaque(input!).takeUnretainedValue()
                // The buffer is the input's, and keeps its bytes until libarchive calls again.
                unsafe bytes!.pointee = unsafe UnsafeRawPointer(input.buffer.base)
                return input.read()
            },
            { _, input, count in
                unsafe Unmanaged<CallbackInput>.fromOpaque(input!).takeUnretainedValue().skip(count)
            }, nil) == ARCHIVE_OK
    }
}
