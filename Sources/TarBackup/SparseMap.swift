// Which parts of a file are in an archive, where others are holes: GNU's sparse format 1.0.

/// The data of a file with holes. The map is the first of the entry's content, and what it names follows it.
struct SparseMap: Hashable {
    /// Ascending; neither empty nor side by side.
    let data: [Range<Int64>]
    let length: Int64

    /// A map of more bytes is refused: of a million pieces it has some 24 MiB.
    static let longest = 64 << 20

    /// - Parameter data: as ``BackupEntry/Content/plain(length:data:)`` has it.
    init(length: Int64, data: [Range<Int64>]) throws(BackupFlaw) {
        var joined: [Range<Int64>] = []
        var end: Int64 = 0
        for range in data {
            guard range.lowerBound >= end, range.upperBound <= length else {
                throw BackupFlaw("has a file whose map of holes contradicts itself")
            }
            if let last = joined.last, last.upperBound == range.lowerBound {
                joined[joined.count - 1] = last.lowerBound..<range.upperBound
            } else if !range.isEmpty {
                joined.append(range)
            }
            end = range.upperBound
        }
        (self.data, self.length) = (joined, length)
    }

    /// Whether there is no hole, so that the file needs no map.
    var isWhole: Bool { length == 0 || data == [0..<length] }

    /// Bytes that are no hole.
    var dataLength: Int64 { data.reduce(0) { $0 + Int64($1.count) } }

    /// How many pieces, then offset and length of each, a line for every number, filled up with NUL to whole blocks. A hole
    /// at the end is told by a last piece without bytes.
    var encoded: [UInt8] {
        let endsInHole = data.last?.upperBound != length
        var bytes = Array("\(data.count + (endsInHole ? 1 : 0))\n".utf8)
        for range in data { bytes += Array("\(range.lowerBound)\n\(range.count)\n".utf8) }
        if endsInHole { bytes += Array("\(length)\n0\n".utf8) }
        let padding = Int(TarHeader.padded(Int64(bytes.count))) - bytes.count
        bytes.append(contentsOf: repeatElement(0, count: padding))
        return bytes
    }

    /// The numbers of a map, as its blocks come in.
    struct Numbers {
        private(set) var values: [Int64] = []
        private var digits = ""

        /// Whether there are as many as the first one asks for.
        var isComplete: Bool { values.first.map { Int64(values.count) == 1 + 2 * $0 } ?? false }

        mutating func append(_ block: [UInt8]) throws(BackupFlaw) {
            for byte in block {
                if isComplete { return }
                guard byte == UInt8(ascii: "\n") else {
                    guard digits.utf8.count < 19 else { throw Numbers.flaw }
                    digits.unicodeScalars.append(Unicode.Scalar(byte))
                    continue
                }
                guard let value = Int64(digits), value >= 0, !values.isEmpty || value <= Int64(SparseMap.longest) else {
                    throw Numbers.flaw
                }
                values.append(value)
                digits = ""
            }
        }

        static let flaw = BackupFlaw("was altered: the map of a file's holes is none; use another copy of it")
    }

    /// - Parameter numbers: complete.
    init(length: Int64, numbers: Numbers) throws(BackupFlaw) {
        var data: [Range<Int64>] = []
        for index in stride(from: 1, to: numbers.values.count, by: 2) {
            let (end, overflow) = numbers.values[index].addingReportingOverflow(numbers.values[index + 1])
            guard !overflow else { throw Numbers.flaw }
            data.append(numbers.values[index]..<end)
        }
        try self.init(length: length, data: data)
    }
}
