// Reading Apple's binary property lists, of anybody's: a list of objects, a table of where each begins, and a trailer.

/// Reads with every offset checked: nothing outside the bytes, no object within itself, and no more objects than the
/// bytes can mean.
struct BinaryPropertyListReader {
    private static let trailerLength = 32

    private let bytes: [UInt8]
    private let referenceSize: Int
    private let offsets: [Int]
    private let root: Int
    /// Each use of an object counts, so that a few that refer to each other often cannot mean millions.
    private var budget: Int

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

    mutating func decode() -> PropertyList? { object(root, depth: 0) }

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
            // 128 bits are written for what does not fit into 64 with a sign.
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

    /// The objects of an array, or the keys and then the values of a dictionary.
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

    /// The bytes of as many elements as the marker says, or the integer behind it.
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

    private func number(_ position: inout Int, _ size: Int) -> UInt64? {
        guard let (high, value) = wide(&position, size), high == 0 else { return nil }
        return value
    }

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
