// The data that a page begins with, as JSON in a script element.

import FoundationEssentials
import SandboxModel

enum PageData {
    /// JSON in printable ASCII without `<`, `>` and `&`: no text in it can end the element, begin a comment, or have an
    /// effect in a terminal that shows the page's source.
    /// - Throws: ``Complaint`` of kind `unexpected`.
    static func json(_ value: some Encodable) throws(Complaint) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else {
            throw Complaint(.unexpected, "cannot write JSON of what was found")
        }
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            switch unit {
            case 0x3C, 0x3E, 0x26: escape(unit, in: &text)
            case 0x20...0x7E: text.append(UInt8(unit))
            default: escape(unit, in: &text)
            }
        }
        return text
    }

    private static func escape(_ unit: UInt16, in text: inout [UInt8]) {
        let digits = String(unit, radix: 16)
        text += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    }
}
