// The names in a directory in the order in which a backup has them, in little more memory than the names themselves.

import Platform
import SandboxModel

/// Names, byte by byte in ascending order. A directory of a hundred thousand takes some megabytes.
struct SortedNames {
    /// All names, one behind the other.
    private var bytes: [UInt8] = []
    /// Where each name begins in ``bytes``, and how long it is.
    private var places: [(start: UInt32, count: UInt8)] = []
    /// The index of the next name.
    private var position = 0

    /// No names.
    init() {}

    init(of directory: borrowing Descriptor) throws(SystemError) {
        let reader = try directory.entries()
        while let entry = try reader.next() {
            let name = entry.name.bytes
            places.append((UInt32(bytes.count), UInt8(name.count)))
            bytes += name
        }
        let bytes = bytes
        places.sort { left, right in
            SortedNames.slice(of: bytes, left).lexicographicallyPrecedes(SortedNames.slice(of: bytes, right))
        }
    }

    /// The bytes of one name.
    private static func slice(of bytes: [UInt8], _ place: (start: UInt32, count: UInt8)) -> ArraySlice<UInt8> {
        bytes[Int(place.start)..<Int(place.start) + Int(place.count)]
    }

    /// - Returns: nil after the last name.
    mutating func next() -> FileName? {
        guard position < places.count else { return nil }
        defer { position += 1 }
        return FileName(SortedNames.slice(of: bytes, places[position]))
    }
}
