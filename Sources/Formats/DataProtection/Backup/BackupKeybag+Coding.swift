// The encoding of a backup's keybag: tags of four letters, each followed by the length of its value and the value.

/// A list of tags in their order, and its bytes. Numbers are big-endian.
struct BackupKeybagTags {
    private(set) var tags: [(tag: String, value: [UInt8])] = []
    private(set) var bytes: [UInt8] = []

    init() {}

    /// - Returns: nil if the bytes end within a tag.
    init?(decoding bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 8 else { return nil }
            let length = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count - 8 >= length else { return nil }
            tags.append((String(decoding: rest.prefix(4), as: UTF8.self), Array(rest.dropFirst(8).prefix(length))))
            rest = rest.dropFirst(8 + length)
        }
    }

    /// - Returns: nil unless the value has four bytes.
    static func number(_ value: [UInt8]?) -> UInt32? {
        guard let value, value.count == 4 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func add(_ tag: StaticString, _ value: [UInt8]) {
        bytes += Array(tag.description.utf8) + BackupKeybagTags.bigEndian(UInt32(value.count)) + value
    }

    mutating func add(_ tag: StaticString, _ number: UInt32) {
        add(tag, BackupKeybagTags.bigEndian(number))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
