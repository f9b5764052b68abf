// Decoding of binary property lists (`bplist00`; layout in Apple's CFBinaryPList.c), which are untrusted input.

/// A decoder that checks every offset and limits depth and number of objects.
///
/// The format: the magic number, the objects, a table with the offset of each object, and a trailer of 32 bytes.
/// Integers are big-endian. Containers refer to objects by index in the table, so that a malicious list can refer to an
/// object within itself, or to the same object millions of times.
struct BinaryPropertyListReader {
    private static let trailerLength = 32

    /// The bytes up to the table of offsets.
    private let bytes: [UInt8]
    /// Bytes of a reference to an object.
    private let referenceSize: Int
    /// The offset of each object.
    private let offsets: [Int]
    /// The index of the top object.
    private let root: Int
    /// The number of object uses that are left. A list in which each object is used once needs fewer than its bytes.
    private var budget: Int

    /// Reads the trailer and the table of offsets.
    /// - Returns: nil for a malformed list.
    init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - BinaryPropertyListReader.trailerLength
        guard trailer >= PropertyList.magic.count else { return nil }
        func number(_ start: Int, _ size: Int) -> Int? {
            var value: UInt64 = 0
            for byte in bytes[start..<start + size] { value = value << 8 | UInt64(byte) }
            return Int(exactly: value)
        }
        let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = number(trailer + 8, 8),
            let root = number(trailer + 16, 8), let table = number(trailer + 24, 8),
            count > 0, root < count, table >= PropertyList.magic.count, table <= trailer,
            count <= (trailer - table) / offsetSize
        else { return nil }
        var offsets: [Int] = []
        offsets.reserveCapacity(count)
        for index in 0..<count {
            guard let offset = number(table + index * offsetSize, offsetSize), offset < table,
                offset >= PropertyList.magic.count
            else { return nil }
            offsets.append(offset)
        }
        self.bytes = Array(bytes[..<table])
        self.referenceSize = referenceSize
        self.offsets = offsets
        self.root = root
        budget = bytes.count
    }

    /// Decodes the top object, and with it all others.
    mutating func decode() -> PropertyList? { object(root, depth: 0) }

    /// Decodes an object: the high half of its marker byte is the type, the low half a size or count.
    private mutating func object(_ index: Int, depth: Int) -> PropertyList? {
        budget -= 1
        guard offsets.indices.contains(index), depth < PropertyList.deepest, budget >= 0 else { return nil }
        var position = offsets[index]
        let marker = bytes[position]
        position += 1
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: return .boolean(marker == 0x09)
        case 0x1 where low <= 4:
            // Integers of 1 to 4 bytes are unsigned. One of 16 bytes is a number above Int64.max.
            guard let (high, value) = wide(&position, 1 << low), high == 0 else { return nil }
            return low < 3 ? Int64(exactly: value).map(PropertyList.integer) : .integer(Int64(bitPattern: value))
        case 0x2 where low == 2: return number(&position, 4).map { .real(Double(Float(bitPattern: UInt32($0)))) }
        case 0x2 where low == 3: return number(&position, 8).map { .real(Double(bitPattern: $0)) }
        case 0x3 where low == 3: return number(&position, 8).map { .date(Double(bitPattern: $0)) }
        case 0x4: return content(low, &position, each: 1).map { .data(Array($0)) }
        case 0x5:
            guard let text = content(low, &position, each: 1), text.allSatisfy({ $0 < 0x80 }) else { return nil }
            return .string(String(decoding: text, as: UTF8.self))
        case 0x6:
            guard let text = content(low, &position, each: 2).map(Array.init) else { return nil }
            let units = stride(from: 0, to: text.count, by: 2).map { UInt16(text[$0]) << 8 | UInt16(text[$0 + 1]) }
            return .string(String(decoding: units, as: UTF16.self))
        case 0x8: return number(&position, low + 1).flatMap { Int(exactly: $0) }.map(PropertyList.uid)
        case 0xA, 0xC: return elements(low, &position, each: 1, depth: depth).map { .array($0) }
        case 0xD:
            guard let all = elements(low, &position, each: 2, depth: depth) else { return nil }
            var values: [String: PropertyList] = [:]
            for (key, value) in zip(all.prefix(all.count / 2), all.suffix(all.count / 2)) {
                guard let key = key.string, values.updateValue(value, forKey: key) == nil else { return nil }
            }
            return .dictionary(values)
        default: return nil
        }
    }

    /// Decodes the elements of an array, or the keys and then the values of a dictionary.
    /// - Parameter each: references for one element: 2 for a dictionary.
    private mutating func elements(_ low: Int, _ position: inout Int, each: Int, depth: Int) -> [PropertyList]? {
        guard let references = content(low, &position, each: each * referenceSize) else { return nil }
        var values: [PropertyList] = []
        var start = references.startIndex
        while start < references.endIndex {
            guard let index = number(&start, referenceSize).flatMap({ Int(exactly: $0) }),
                let value = object(index, depth: depth + 1)
            else { return nil }
            values.append(value)
        }
        return values
    }

    /// The bytes of elements whose count is in the marker, or, if that is 15, in the integer behind it.
    /// - Parameter size: bytes of an element.
    private func content(_ low: Int, _ position: inout Int, each size: Int) -> ArraySlice<UInt8>? {
        var count = low
        if low == 0xF {
            guard position < bytes.count, bytes[position] >> 4 == 0x1, bytes[position] & 0xF <= 3 else { return nil }
            let length = 1 << Int(bytes[position] & 0xF)
            position += 1
            guard let value = number(&position, length), value <= UInt64(bytes.count) else { return nil }
            count = Int(value)
        }
        guard count <= (bytes.count - position) / size else { return nil }
        defer { position += count * size }
        return bytes[position..<position + count * size]
    }

    /// An integer of up to 64 bits.
    private func number(_ position: inout Int, _ size: Int) -> UInt64? {
        guard let (high, value) = wide(&position, size), high == 0 else { return nil }
        return value
    }

    /// An integer of up to 128 bits: its high and its low half.
    private func wide(_ position: inout Int, _ size: Int) -> (UInt64, UInt64)? {
        guard position <= bytes.count - size else { return nil }
        var (high, value): (UInt64, UInt64) = (0, 0)
        for byte in bytes[position..<position + size] {
            (high, value) = (high << 8 | value >> 56, value << 8 | UInt64(byte))
        }
        position += size
        return (high, value)
    }
}
