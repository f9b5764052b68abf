// The format of the event record, DEVICE/Events.jsonl and the older file beside it, and reading it with or without a
// daemon.

public import AppContainer
import BackingStore
import ContainerVolume
import FoundationEssentials
import Glibc
import Platform
public import SandboxModel

/// The record of a device's events, one JSON object a line. Both files are plain text, also on a locked device.
public enum EventRecord {
    /// Lines are appended to this one.
    static let newer = DeviceDirectory.Name.events
    /// The former newer one. A third does not exist, so that the record is bounded.
    static let older = DeviceDirectory.Name.olderEvents

    /// One event of the record.
    public struct Entry: Sendable {
        /// As it was written, without the line's end.
        public let line: String
        public let event: Event
    }

    /// All events of the record, the oldest first. Lines that are no events are skipped, such as the unfinished line of
    /// a killed process.
    /// - Throws: ``Complaint`` when the files cannot be read.
    public static func entries(of device: String) throws(Complaint) -> [Entry] {
        let bytes = try Complaint.wrap("cannot read the events of \(device)") { () throws(SystemError) in
            try contents(in: Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY))
        }
        return entries(in: bytes)
    }

    /// The last events of one name, the latest first. Decodes those alone: a whole record would
    /// take a second.
    /// - Throws: as ``entries(of:)``.
    public static func last(
        _ count: Int, named name: Event.Name, of device: String
    ) throws(Complaint) -> [Event] {
        let bytes = try Complaint.wrap("cannot read the events of \(device)") { () throws(SystemError) in
            try contents(in: Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY))
        }
        let mark = Array("\"event\":\"\(name.rawValue)\"".utf8)
        let lines = bytes.split(separator: UInt8(ascii: "\n")).reversed().lazy
            // The name follows the time, at the beginning of each line.
            .filter { $0.prefix(128).firstRange(of: mark) != nil }
        let events = lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0)) }
        return Array(events.filter { $0.event == name }.prefix(count))
    }

    /// The lines that are events.
    static func entries(in bytes: [UInt8]) -> [Entry] {
        let decoder = JSONDecoder()
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let event = try? decoder.decode(Event.self, from: Data(line)) else { return nil }
            return Entry(line: String(decoding: line, as: UTF8.self), event: event)
        }
    }

    /// The bytes of both files in order. The newer file may be renamed to the older at any time: it is opened first,
    /// and if the older one is then the same file, both are read again.
    private static func contents(in device: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        while true {
            let last = try File(newer, in: device)
            let first = try File(older, in: device)
            if let last, let first, last.inode == first.inode { continue }
            return (first?.bytes ?? []) + (last?.bytes ?? [])
        }
    }

    private struct File {
        let inode: UInt64
        let bytes: [UInt8]

        /// Bytes to read at most, of a file that this software did not write.
        private static let limit = 1 << 26

        /// - Returns: nil when there is no such file.
        init?(_ name: FileName, in device: borrowing Descriptor) throws(SystemError) {
            do throws(SystemError) {
                let file = try device.openRecord(name, flags: O_RDONLY)
                inode = try file.status().inode
                bytes = try file.readToEnd(limit: File.limit)
            } catch {
                guard error == .noEntry else { throw error }
                return nil
            }
        }
    }

    // MARK: Writing

    /// An event as a line with its end, of at most 8 KiB. The keys have the order in which people read them.
    static func line(_ event: Event) -> [UInt8] {
        let event = bounded(event)
        var line = Line()
        line.add("time", event.time)
        line.add("event", event.event.rawValue)
        line.add("app", event.app)
        line.add("path", event.path)
        line.add("pathCut", event.pathCut)
        line.add("operation", event.operation)
        line.add("pid", event.pid)
        line.add("process", event.process)
        line.add("rule", event.rule)
        line.add("errno", event.errno)
        if let range = event.range {
            line.add("range", written: "{\"offset\":\(range.offset),\"length\":\(range.length)}")
        }
        line.add("size", event.size)
        line.add("reason", event.reason)
        line.add("state", event.state)
        if let remaining = event.remaining, remaining.isFinite { line.add("remaining", written: "\(remaining)") }
        line.add("lock", event.lock)
        line.add("omitted", event.omitted)
        line.add("missed", event.missed)
        line.add("deviceTime", event.deviceTime)
        line.add("dropped", event.dropped)
        return line.bytes + Array("}\n".utf8)
    }

    /// The event with a path of at most ``HomePath/longest`` bytes and the mark: a mount point, or the name of a file
    /// in a bundle, may be longer. The other texts are short.
    private static func bounded(_ event: Event) -> Event {
        guard let path = event.path, path.utf8.count > HomePath.longest + HomePath.mark.utf8.count else { return event }
        var end = path.utf8.suffix(HomePath.longest)
        if let slash = end.firstIndex(of: UInt8(ascii: "/")) { end = end[end.index(after: slash)...] }
        var bounded = event
        bounded.path = HomePath.mark + String(decoding: end, as: UTF8.self)
        bounded.pathCut = (event.pathCut ?? 0) + path.utf8.count - end.count
        return bounded
    }

    private struct Line {
        var bytes: [UInt8] = []

        mutating func add(_ key: String, written value: String) {
            bytes += "\(bytes.isEmpty ? "{" : ",")\"\(key)\":".utf8
            bytes += value.utf8
        }

        mutating func add(_ key: String, _ number: (some BinaryInteger)?) {
            if let number { add(key, written: "\(number)") }
        }

        mutating func add(_ key: String, _ text: String?) {
            guard let text else { return }
            add(key, written: "\"")
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
                // DEL as well: a terminal shall show a name, and not obey it.
                case 0..<0x20, 0x7F:
                    bytes += "\\u00\([byte].hexadecimal)".utf8
                default: bytes.append(byte)
                }
            }
            bytes.append(UInt8(ascii: "\""))
        }
    }
}
