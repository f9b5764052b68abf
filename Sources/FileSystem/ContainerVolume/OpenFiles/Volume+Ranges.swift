// fallocate, lseek for holes, copy_file_range: calls on ranges of an open file.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// The modes of fallocate(2) that are served: 0, KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE.
    private struct AllocationMode: OptionSet {
        let rawValue: Int32
        static let keepSize = AllocationMode(rawValue: 0x01)
        static let punchHole = AllocationMode(rawValue: 0x02)
        static let zeroRange = AllocationMode(rawValue: 0x10)
    }

    /// Reserves space for a range of a file, or makes the range zeros.
    ///
    /// - Throws: EOPNOTSUPP for a mode that is not served; EBADF without the right to write; ENOSPC.
    public func allocate(_ handle: FileHandle, mode: Int32, offset: Int64, count: Int64) throws(Fault) {
        guard handle.canWrite, case .encrypted(let file) = handle.content else { throw .system(.badDescriptor) }
        guard offset >= 0, count > 0 else { throw .system(.invalid) }
        try openFiles.requireContent(handle, for: .write)
        let mode = AllocationMode(rawValue: mode)
        func allocate(extending: Bool) throws(Fault) {
            try space.retrying(for: count) { () throws(Fault) in
                try file.allocate(offset, count: count, extending: extending)
            }
        }
        switch mode {
        case []: try allocate(extending: true)
        case .keepSize: try allocate(extending: false)
        case [.punchHole, .keepSize]: try file.zero(offset, count: count, releasing: true)
        case .zeroRange, [.zeroRange, .keepSize]:
            try allocate(extending: mode == .zeroRange)
            try file.zero(offset, count: count, releasing: false)
        default: throw .system(.notSupported)
        }
    }

    /// Finds the next data or hole, as SEEK_DATA and SEEK_HOLE do.
    ///
    /// The caller has had the kernel write out its pages of the file first.
    ///
    /// - Throws: ENXIO when `offset` is at or behind the end, or no data follows.
    public func seek(_ handle: FileHandle, from offset: Int64, toHole: Bool) throws(Fault) -> Int64 {
        try openFiles.requireContent(handle, for: .read)
        switch handle.content {
        case .encrypted(let file):
            guard let found = try file.seek(from: offset, toHole: toHole) else { throw .system(.noSuchAddress) }
            return found
        case .sealed(let file):
            // Holes of the backing copy were not verified: all of the file is data.
            guard offset >= 0, offset < file.size else { throw .system(.noSuchAddress) }
            return toHole ? file.size : offset
        case .synthetic(let file):
            guard offset >= 0, offset < file.size else { throw .system(.noSuchAddress) }
            return toHole ? file.size : offset
        }
    }

    /// Copies a range between two files, or within one where the ranges do not overlap.
    ///
    /// - Returns: bytes copied; fewer than asked for at the end of the source.
    public func copy(
        from source: FileHandle, at offset: Int64, to target: FileHandle, at targetOffset: Int64, count: Int
    ) throws(Fault) -> Int {
        guard target.canWrite, case .encrypted(let file) = target.content else { throw .system(.badDescriptor) }
        try openFiles.requireContent(source, for: .read)
        try openFiles.requireContent(target, for: .write)
        var copied = 0
        while copied < count {
            var fault: Fault?
            var moved = 0
            func take(_ result: ReadResult) {
                for index in 0..<result.segmentCount {
                    let (buffer, start, length) = result.segment(index)
                    do throws(Fault) {
                        try buffer.withBytes(start, count: length) { (bytes: RawSpan) throws(Fault) in
                            _ = try file.write(bytes, at: targetOffset + Int64(copied + moved))
                        }
                    } catch {
                        fault = error
                        return
                    }
                    moved += length
                }
            }
            do throws(Fault) {
                try read(
                    source, count: min(count - copied, Workspace.largestTransfer), from: offset + Int64(copied)
                ) { take($0) }
            } catch {
                fault = error
            }
            copied += moved
            if let fault {
                if copied > 0 { return copied }
                throw fault
            }
            if moved == 0 { break }
        }
        return copied
    }
}
