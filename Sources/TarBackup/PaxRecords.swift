// Extended records before an entry: "LENGTH KEYWORD=VALUE\n", as POSIX has them for pax.

import SandboxModel

/// The bytes of an entry's extended records, as they are put together.
struct PaxRecords {
    /// Of one entry's records. What a host keeps for a file is far less.
    static let longest = 16 << 20

    private(set) var bytes: [UInt8] = []

    mutating func append(_ keyword: StaticString, _ value: some Collection<UInt8>) {
        append(Array(keyword.description.utf8), value)
    }

    mutating func append(_ keyword: StaticString, _ value: String) {
        append(keyword, value.utf8)
    }

    mutating func append(_ keyword: [UInt8], _ value: some Collection<UInt8>) {
        // A space, the equals sign and the line's end; and the length itself, whose digits count too.
        let rest = keyword.count + value.count + 3
        var length = rest + String(rest).utf8.count
        length = rest + String(length).utf8.count
        bytes += Array(String(length).utf8)
        bytes.append(UInt8(ascii: " "))
        bytes += keyword
        bytes.append(UInt8(ascii: "="))
        bytes += value
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The records in their order. A value can be any bytes.
    static func parse(
        _ bytes: [UInt8]
    ) throws(BackupFlaw) -> [(keyword: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        let flaw = BackupFlaw("was altered: the extended records of an entry are none; use another copy of it")
        var records: [(keyword: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
        var start = 0
        while start < bytes.count {
            let head = bytes[start...].prefix(9)
            guard let space = head.firstIndex(of: UInt8(ascii: " ")),
                let length = Int(String(decoding: bytes[start..<space], as: UTF8.self)),
                length > space - start + 2, length <= bytes.count - start,
                bytes[start + length - 1] == UInt8(ascii: "\n"),
                let equals = bytes[(space + 1)..<(start + length - 1)].firstIndex(of: UInt8(ascii: "="))
            else { throw flaw }
            records.append((bytes[(space + 1)..<equals], bytes[(equals + 1)..<(start + length - 1)]))
            start += length
        }
        return records
    }
}
