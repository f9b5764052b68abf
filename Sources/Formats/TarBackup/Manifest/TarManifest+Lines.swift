// The lines of a manifest: reading them in order, and finding one by its path.

import Platform
import SandboxModel

extension TarManifest {
    /// A reader of the lines in order.
    struct Lines {
        private let manifest: TarManifest
        /// The bytes from `place` to `fill` are not parsed yet.
        private var buffer = PageBuffer(count: 32 << 10)
        private var place = 0
        private var fill = 0
        /// Bytes of the manifest that were read into the buffer so far.
        private var read: Int64 = 0
        /// Lines so far.
        private var count: Int64 = 0

        init(of manifest: TarManifest) {
            self.manifest = manifest
        }

        /// The byte offset of the next line in the manifest.
        var offset: Int64 { read - Int64(fill - place) }

        /// Reads the next line.
        /// - Returns: nil after the last line.
        /// - Throws: ``Complaint`` of kind `invalidBackup` for a malformed line, and for a wrong number of lines.
        mutating func next() throws(Complaint) -> ManifestLine? {
            while true {
                var end = place
                while end < fill, buffer.load(UInt8.self, at: end) != UInt8(ascii: "\n") { end += 1 }
                if end < fill {
                    guard let line = ManifestLine(buffer.bytes(place, count: end - place)) else {
                        throw manifest.altered
                    }
                    place = end + 1
                    count += 1
                    return line
                }
                let left = manifest.end.bytes - read
                guard left > 0 else {
                    guard place == fill, count == manifest.end.lines else { throw manifest.altered }
                    return nil
                }
                guard fill - place < ManifestLine.longest else { throw manifest.altered }
                // A line that fills the buffer needs a larger one; `longest` bounds it.
                let larger = place == 0 && fill == buffer.count ? PageBuffer(count: 4 * buffer.count) : buffer
                larger.copy(from: buffer, at: place, count: fill - place, to: 0)
                buffer = larger
                (place, fill) = (0, fill - place)
                let space = min(buffer.count - fill, Int(left))
                let got = try manifest.read(into: buffer, at: fill, count: space, from: read)
                fill += got
                read += Int64(got)
            }
        }
    }

    /// Whether a hard link can refer to a path: the first name of anything but a directory.
    ///
    /// A binary search, as the lines are sorted by path.
    /// - Parameters:
    ///   - first, limit: the byte offsets of the lines between which to search.
    func hasFirstName(_ path: [UInt8], from first: Int64, before limit: Int64) throws(Complaint) -> Bool {
        var (low, high) = (first, limit)
        while low < high {
            let middle = low + (high - low) / 2
            guard let (line, start, end) = try line(from: middle, isStart: middle == low), start < high else {
                high = middle
                continue
            }
            if line.path == path { return line.kind != .directory && line.kind != .hardLink }
            if ArchivePath.precedes(line.path, path) { low = end } else { high = middle }
        }
        return false
    }

    /// The first line that begins at a byte offset or after it; nil if none does.
    /// - Parameter isStart: whether a line is known to begin at the offset.
    private func line(
        from place: Int64, isStart: Bool
    ) throws(Complaint) -> (line: ManifestLine, start: Int64, end: Int64)? {
        // A newline before the offset shows that a line begins there.
        let origin = isStart ? place : place - 1
        var bytes: [UInt8] = []
        var buffer = PageBuffer(count: 4096)
        while true {
            let count = Int(min(Int64(buffer.count), end.bytes - origin))
            bytes = buffer.bytes(0, count: try read(into: buffer, count: count, from: origin))
            let before = isStart ? bytes.startIndex - 1 : bytes.firstIndex(of: UInt8(ascii: "\n"))
            if let before, before + 1 < bytes.count || origin + Int64(bytes.count) == end.bytes {
                guard before + 1 < bytes.count else { return nil }
                if let last = bytes[(before + 1)...].firstIndex(of: UInt8(ascii: "\n")) {
                    guard let line = ManifestLine(Array(bytes[(before + 1)..<last])) else { throw altered }
                    return (line, origin + Int64(before + 1), origin + Int64(last + 1))
                }
            }
            guard origin + Int64(bytes.count) < end.bytes else { return nil }
            guard buffer.count < 4 * ManifestLine.longest else { throw altered }
            buffer = PageBuffer(count: 4 * buffer.count)
        }
    }
}
