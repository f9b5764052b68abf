// Copying a file's content as the host does it best: shared extents, a copy inside the kernel, and only then bytes.

import CPlatform
import Glibc
public import SandboxModel

extension Descriptor {
    /// Gives this empty file the content of another: byte for byte, its holes kept as holes.
    ///
    /// - Parameters:
    ///   - source: open for reading; its length must not change meanwhile.
    ///   - progress: told how many bytes more have been copied; false ends the copy early.
    /// - Returns: false when `progress` ended it.
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
    /// How hosts say that they cannot do what is asked for: each filesystem has its own way.
    fileprivate var meansUnsupported: Bool {
        [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS].contains(code)
    }
}
