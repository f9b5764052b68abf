// Standard output and standard error of the commands: lines, tables, JSON, files.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// Standard error, for errors, warnings and progress.
enum StandardError {
    /// Writes text as it is. A failure is ignored, as it could not be reported.
    static func write(_ text: String) {
        Terminal.writeError(text)
    }

    /// Prints an error, in one line even if names in it hold line ends.
    static func complain(_ message: String) {
        write("\(Style.error("appcontainer:", on: .error)) \(message.onOneLine)\n")
    }

    /// Prints a warning. The command goes on.
    static func warn(_ message: String) {
        tell("warning: \(message)", Style.warning)
    }

    /// Prints what is worth to know, and no error.
    static func tell(_ message: String, _ style: Style = .heading) {
        write("\(style("appcontainer:", on: .error)) \(message.onOneLine)\n")
    }
}

/// Standard output. Only this type prints there, because a failed write must fail the command.
enum Output {
    /// Prints a line.
    static func line(_ text: String) throws(Complaint) {
        try lines([text])
    }

    /// Writes a file, replacing an existing one atomically. The new one has the mode of the old one, else 0644.
    /// - Throws: ``Complaint`` with the host's error.
    static func write(_ bytes: [UInt8], to path: String) throws(Complaint) {
        try Complaint.wrap("cannot write \(path)") { () throws(SystemError) in
            let absolute = try HostPath.absolute(path)
            let place = try OutputPlace(of: absolute)
            // Pipes and devices are written to, not replaced.
            if place.isStream { return try place.open().append(bytes) }
            // A symbolic link is replaced itself: another user may have chosen its target.
            let (directory, name) = try HostPath.newPlace(of: absolute)
            let unfinished = try UnfinishedFile(in: directory, mode: place.mode ?? 0o644)
            try unfinished.file.descriptor.append(bytes)
            try unfinished.rename(to: name, mode: .replacing)
        }
    }

    /// Whether a path is a pipe or a device, or leads to one.
    static func isStream(_ path: String) -> Bool {
        (try? OutputPlace(of: HostPath.absolute(path)).isStream) ?? false
    }

    /// Prints all lines with one write, if the kernel takes them at once.
    ///
    /// If the reader of a pipe has gone, the process ends as SIGPIPE would end it, which the command ignores.
    /// - Throws: ``Complaint`` of kind `noSpace` or `unexpected`.
    static func lines(_ lines: [String]) throws(Complaint) {
        try bytes(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// Prints bytes as they are, in the same way.
    static func bytes(_ bytes: [UInt8]) throws(Complaint) {
        do throws(SystemError) {
            try Terminal.writeOutput(bytes)
        } catch {
            if error.code == EPIPE { Terminal.endUnread() }
            let kind: Complaint.Kind = error == .noSpace ? .noSpace : .unexpected
            throw Complaint(kind, "cannot write the answer to standard output: \(error.message)")
        }
    }

    /// Prints indented JSON with sorted keys, so that equal answers are equal text.
    static func json(_ value: some Encodable) throws(Complaint) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(value) else { throw Complaint(.unexpected, "cannot write JSON of this") }
        try line(String(decoding: bytes, as: UTF8.self).jsonForTerminals)
    }

    /// Prints lines of `label: value`, with the values in one column.
    /// - Parameter style: the look of the value of a label, on a terminal.
    static func fields(
        _ fields: [(label: String, value: String)], style: (String) -> Style? = { _ in nil }
    ) throws(Complaint) {
        let width = fields.map(\.label.count).max() ?? 0
        try lines(
            fields.map { label, value in
                let value = value.onOneLine
                return padded("\(label):", to: width + 2) + (style(label)?(value) ?? value)
            })
    }

    /// Prints rows in columns two spaces apart. The last column is not padded.
    /// - Parameters:
    ///   - headings: of the columns; none without any.
    ///   - style: the look of a cell by its row and its column, on a terminal.
    static func table(
        _ rows: [[String]], under headings: [String] = [], style: (Int, Int) -> Style? = { _, _ in nil }
    ) throws(Complaint) {
        let first = headings.isEmpty ? 0 : 1
        let rows = ((headings.isEmpty ? [] : [headings]) + rows).map { $0.map(\.onOneLine) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let lines = rows.enumerated().map { row, cells in
            // No trailing blanks after empty cells.
            let last = cells.lastIndex { !$0.isEmpty } ?? -1
            return cells.prefix(last + 1).enumerated().map { column, cell in
                let look = row < first ? Style.heading : style(row - first, column)
                // Blanks have no look: on a terminal they would show an underline or a background.
                return (look?(cell) ?? cell) + (column == last ? "" : padded("", to: widths[column] + 2 - cell.count))
            }
        }
        try self.lines(lines.map { $0.joined() })
    }

    /// Text with blanks up to a width in characters. Wide characters are not accounted for.
    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Formats a number of bytes: 1536 is `1.5 KiB`.
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
