// What commands print.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

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

/// Standard output. Nothing else prints there: an answer that did not arrive is no success.
enum Output {
    static func line(_ text: String) throws(Complaint) {
        try lines([text])
    }

    /// Writes a file whole, in place of one that is there.
    static func write(_ bytes: [UInt8], to path: String) throws(Complaint) {
        try Complaint.wrap("cannot write \(path)") { () throws(SystemError) in
            // A pipe or a terminal takes them; a file with its name would not be one any more.
            if isStream(path) {
                return try Descriptor.open(path: path, flags: O_WRONLY).append(bytes)
            }
            // Of a link the link: where it leads to may be somebody else's choice.
            guard let place = HostPath.place(of: try HostPath.absolute(path)) else { throw .isDirectory }
            let mode = try? HostPath.status(path).permissions
            let unfinished = try UnfinishedFile(in: place.directory, mode: mode ?? 0o644)
            try unfinished.file.descriptor.append(bytes)
            try unfinished.rename(to: place.name, mode: .replacing)
        }
    }

    /// Whether what is written to a path goes on from there: a pipe or a device.
    static func isStream(_ path: String) -> Bool {
        guard let kind = try? HostPath.status(path).kind else { return false }
        return kind != .file && kind != .directory
    }

    /// All lines, in one piece where the kernel takes one.
    static func lines(_ lines: [String]) throws(Complaint) {
        do throws(SystemError) {
            try Terminal.writeOutput(lines.map { $0 + "\n" }.joined())
        } catch {
            if error.code == EPIPE { Terminal.endUnread() }
            let kind: Complaint.Kind = error == .noSpace ? .noSpace : .unexpected
            throw Complaint(kind, "cannot write the answer to standard output: \(error.message)")
        }
    }

    /// JSON in the form that people can read as well: one key a line, in a fixed order.
    static func json(_ value: some Encodable) throws(Complaint) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(value) else { throw Complaint(.unexpected, "cannot write JSON of this") }
        try line(String(decoding: bytes, as: UTF8.self))
    }

    /// Lines of `label   value`, with the values in one column.
    static func fields(_ fields: [(label: String, value: String)]) throws(Complaint) {
        let width = fields.map(\.label.count).max() ?? 0
        try lines(fields.map { label, value in padded("\(label):", to: width + 2) + value.onOneLine })
    }

    /// Rows in columns two spaces apart; the last column is as long as it is.
    static func table(_ rows: [[String]]) throws(Complaint) {
        let rows = rows.map { $0.map(\.onOneLine) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let lines = rows.map { row in
            row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : padded(cell, to: widths[index] + 2)
            }
        }
        // A cell that is empty at the end of its row leaves no blanks.
        try self.lines(lines.map { $0.joined().replacing(#/ +$/#, with: "") })
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
