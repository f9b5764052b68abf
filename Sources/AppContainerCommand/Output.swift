// What commands print.

import FoundationEssentials
import Platform

/// Standard error, for complaints and progress.
enum StandardError {
    static func write(_ text: String) {
        Terminal.writeError(text)
    }

    /// Says what was wrong, in one line whatever the names in it hold.
    static func complain(_ message: String) {
        write("appcontainer: \(message.onOneLine)\n")
    }

    /// Says what the user should know although the command goes on.
    static func warn(_ message: String) {
        complain("warning: \(message)")
    }
}

enum Output {
    /// JSON in the form that people can read as well: one key a line, in a fixed order.
    static func json(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(value) { print(String(decoding: bytes, as: UTF8.self)) }
    }

    /// Lines of `label   value`, with the values in one column.
    static func fields(_ fields: [(label: String, value: String)]) {
        let width = fields.map(\.label.count).max() ?? 0
        for (label, value) in fields {
            print("\(padded("\(label):", to: width + 2))\(value.onOneLine)")
        }
    }

    /// Rows in columns two spaces apart; the last column is as long as it is.
    static func table(_ rows: [[String]]) {
        let rows = rows.map { $0.map(\.onOneLine) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            let cells = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : padded(cell, to: widths[index] + 2)
            }
            print(cells.joined())
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// 1536 as `1.5 KiB`.
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) bytes" }
        var value = Double(bytes)
        var unit = "bytes"
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
