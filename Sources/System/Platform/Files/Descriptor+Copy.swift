// Copying a file's content the cheapest way the host has: FICLONE, then copy_file_range(2), then read and write.

import CPlatform
import Glibc
public import SandboxModel

extension Descriptor {
    /// Copies the content of `source` into this empty file, holes as holes: `ioctl(2)` with `FICLONE`, then
    /// `copy_file_range(2)`, then `pread(2)` and `pwrite(2)`, whatever the host can do.
    ///
    /// - Parameters:
    ///   - source: open for reading. Its length must not change meanwhile.
    ///   - progress: gets the number of bytes copied since its last call; false ends the copy.
    /// - Returns: false if `progress` ended the copy.
    /// - Throws: EIO if `source` became shorter; ENOSPC and other errors of the host. The copy is incomplete then.
    public borrowing func copyContent(
        of source: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        let length = try source.status().size
        guard length > 0 else { return true }
        let from = source.number
        let to = number
        do throws(SystemError) {
            try systemCall { platform_clone_file(from, to) }
            return progress(length)
        } catch {
            guard error.meansUnsupported else { throw error }
        }
        try truncate(to: length)
        var position: Int64 = 0
        while position < length, let start = try source.nextData(from: position) {
            let end = min(try source.nextHole(from: start), length)
            guard progress(start - position), try copyRange(of: source, from: start, to: end, progress: progress) else {
                return false
            }
            position = end
        }
        return progress(length - position)
    }

    /// Copies a range without holes, in pieces between which the caller can cancel.
    private borrowing func copyRange(
        of source: borrowing Descriptor, from start: Int64, to end: Int64, progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        let from = source.number
        let to = number
        let piece: Int64 = 16 << 20
        var position = start
        var buffer: PageBuffer?
        while position < end {
            let count = min(end - position, piece)
            var copied = 0
            if let buffer {
                copied = try source.read(into: buffer, count: Int(min(count, Int64(buffer.count))), from: position)
                try write(from: buffer, count: copied, to: position)
            } else {
                do throws(SystemError) {
                    var source = position
                    var target = position
                    copied = try systemCall {
                        unsafe platform_copy_file_range(from, &source, to, &target, Int(count))
                    }
                } catch {
                    guard error.meansUnsupported else { throw error }
                    // Not tried again: the filesystems stay the same for the rest of the range.
                    buffer = PageBuffer(count: 1 << 20)
                    continue
                }
            }
            // The source became shorter than it was.
            guard copied > 0 else { throw .inputOutput }
            position += Int64(copied)
            guard progress(Int64(copied)) else { return false }
        }
        return true
    }
}

extension SystemError {
    /// The errors by which filesystems refuse FICLONE or copy_file_range(2).
    fileprivate var meansUnsupported: Bool {
        [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS].contains(code)
    }
}
