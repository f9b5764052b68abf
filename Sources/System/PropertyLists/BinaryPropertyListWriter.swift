// Encoding of binary property lists (`bplist00`).

/// An encoder that writes each object where it occurs, without sharing equal ones, and dictionaries sorted by key.
/// Equal lists give equal bytes.
struct BinaryPropertyListWriter {
    private var bytes = PropertyList.magic
    private var offsets: [Int] = []
    /// Bytes of a reference to an object.
    private var referenceSize = 1

    /// Writes objects, table of offsets and trailer.
    mutating func encode(_ list: PropertyList) -> [UInt8] {
        referenceSize = size(of: BinaryPropertyListWriter.count(list))
        add(list)
        let (table, offsetSize) = (bytes.count, size(of: bytes.count))
        for offset in offsets { bytes += bigEndian(offset, offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        bytes += bigEndian(offsets.count, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        return bytes
    }

    /// The number of objects, with keys.
    private static func count(_ list: PropertyList) -> Int {
        switch list {
        case .array(let values): values.reduce(1) { $0 + count($1) }
        case .dictionary(let values): values.values.reduce(1 + values.count) { $0 + count($1) }
        default: 1
        }
    }

    /// Appends an object and those that it contains.
    /// - Returns: its index.
    @discardableResult
    private mutating func add(_ list: PropertyList) -> Int {
        let index = offsets.count
        offsets.append(bytes.count)
        switch list {
        case .boolean(let value): bytes.append(value ? 0x09 : 0x08)
        case .integer(let value): bytes += integer(value)
        case .real(let value): bytes += [0x23] + bigEndian(value.bitPattern, 8)
        case .date(let value): bytes += [0x33] + bigEndian(value.bitPattern, 8)
        case .data(let value): bytes += head(0x40, value.count) + value
        case .string(let text):
            let ascii = Array(text.utf8)
            if ascii.allSatisfy({ $0 < 0x80 }) {
                bytes += head(0x50, ascii.count) + ascii
            } else {
                let units = Array(text.utf16)
                bytes += head(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            }
        case .uid(let value): bytes += [0x83] + bigEndian(value, 4)
        case .array(let values):
            bytes += head(0xA0, values.count)
            let place = reserve(values.count)
            for (number, value) in values.enumerated() { refer(at: place, number, to: add(value)) }
        case .dictionary(let values):
            let keys = values.keys.sorted()
            bytes += head(0xD0, keys.count)
            let place = reserve(2 * keys.count)
            for (number, key) in keys.enumerated() { refer(at: place, number, to: add(.string(key))) }
            for (number, key) in keys.enumerated() { refer(at: place, keys.count + number, to: add(values[key]!)) }
        }
        return index
    }

    /// Appends space for references.
    /// - Returns: its offset.
    private mutating func reserve(_ count: Int) -> Int {
        defer { bytes += [UInt8](repeating: 0, count: count * referenceSize) }
        return bytes.count
    }

    /// Sets one of the references that were reserved at an offset.
    private mutating func refer(at place: Int, _ number: Int, to index: Int) {
        let start = place + number * referenceSize
        bytes.replaceSubrange(start..<start + referenceSize, with: bigEndian(index, referenceSize))
    }

    /// The marker of an object with a count; 15 means that the count follows as an integer.
    private func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
        count < 0xF ? [marker | UInt8(count)] : [marker | 0xF] + integer(Int64(count))
    }

    /// An integer object, in the fewest bytes. Negative ones always take 8.
    private func integer(_ value: Int64) -> [UInt8] {
        guard value >= 0 else { return [0x13] + bigEndian(UInt64(bitPattern: value), 8) }
        let length: Int = [1, 2, 4].first { value < 1 << (8 * Int64($0)) } ?? 8
        return [0x10 | UInt8(length.trailingZeroBitCount)] + bigEndian(value, length)
    }

    /// The smallest size in bytes that holds a value.
    private func size(of value: Int) -> Int { [1, 2, 4].first { value < 1 << (8 * $0) } ?? 8 }

    private func bigEndian(_ value: some BinaryInteger, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
