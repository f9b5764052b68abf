// The content of the event record at the moment when a follower begins.

import Platform
import Synchronization

/// The lines of the record at one instant, read piece by piece when the follower wants them.
/// Lock: its own, held while a piece is read. Only one follower has a history, so nobody waits for it.
final class EventHistory: Sendable {
    /// A file of the record, up to its length at that instant.
    struct Part: Sendable {
        let file: SharedDescriptor
        let length: Int64
    }

    private struct State {
        var parts: [Part]
        var position: Int64 = 0
        /// The start of a line that ends in the next piece.
        var rest: [UInt8] = []
    }

    /// Bytes of one piece: enough for some hundred lines.
    private static let piece = 64 * 1024
    private let state: Mutex<State>

    /// - Parameter parts: the older file first.
    init(_ parts: [Part]) {
        state = Mutex(State(parts: parts))
    }

    /// Reads the next piece. Files that cannot be read, and lines that are no events, are skipped.
    /// - Returns: whole lines, maybe none; nil at the end.
    func next() -> [UInt8]? {
        state.withLock { state in
            guard let part = state.parts.first else { return nil }
            let wanted = Int(min(Int64(EventHistory.piece), part.length - state.position))
            let read = wanted > 0 ? EventHistory.read(part.file, wanted, from: state.position) : []
            state.position += Int64(read.count)
            var bytes = state.rest + read
            if read.isEmpty {
                state.parts.removeFirst()
                state.position = 0
                state.rest = []
            } else {
                let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
                state.rest = Array(bytes[end...])
                bytes.removeSubrange(end...)
            }
            return EventRecord.entries(in: bytes).flatMap { Array($0.line.utf8) + [UInt8(ascii: "\n")] }
        }
    }

    private static func read(_ file: SharedDescriptor, _ count: Int, from position: Int64) -> [UInt8] {
        let buffer = PageBuffer(count: count)
        guard let read = try? file.descriptor.read(into: buffer, count: count, from: position) else { return [] }
        return buffer.bytes(0, count: read)
    }
}
