// One who follows the record of events: what it holds, and then each line as it is written.
// Lock: its own, below that of the record, for moments only. Whoever notes an event never waits for who reads it.

import AppContainer
import Glibc
import Platform
import SandboxModel
import Synchronization

/// The lines of the record from its beginning on, for one reader. What he is too slow for is counted, and told.
final class EventFollower: Sendable {
    /// Bytes that wait for the reader. He has the whole record besides, if he wants it.
    static let largest = 1 << 20

    private struct State {
        var bytes: [UInt8] = []
        var missed = 0
        var isOver = false
        /// The reader, while he waits.
        var reader: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())
    private let history: EventHistory

    /// - Parameters:
    ///   - history: what was written before the first line that ``append(_:)`` gets.
    ///   - limit: how many bytes may wait for the reader.
    init(after history: EventHistory, limit: Int = EventFollower.largest) {
        self.history = history
        self.limit = limit
    }

    /// A line has been written. Returns at once.
    func append(_ line: [UInt8]) {
        change { state in
            // In order: nothing is taken any more before the reader has been told of what he missed.
            if state.missed > 0 || state.bytes.count + line.count > limit {
                state.missed += 1
            } else {
                state.bytes += line
            }
        }
    }

    /// No line comes any more; the reader gets those that wait.
    func end() {
        change { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            return state.reader.take()
        }
        reader?.resume()
    }

    // MARK: The reader

    /// Whole lines, in order, each once; waits for them.
    /// - Returns: nil when none will come any more, or the task was cancelled.
    func next() async -> [UInt8]? {
        while let lines = history.next() {
            if Task.isCancelled { return nil }
            if !lines.isEmpty { return lines }
        }
        while !Task.isCancelled {
            let (bytes, isOver) = take()
            if !bytes.isEmpty { return bytes }
            if isOver { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { reader in
                    let waits = state.withLock { state in
                        guard state.bytes.isEmpty, state.missed == 0, !state.isOver, !Task.isCancelled else {
                            return false
                        }
                        state.reader = reader
                        return true
                    }
                    if !waits { reader.resume() }
                }
            } onCancel: {
                change { _ in }
            }
        }
        return nil
    }

    private func take() -> (bytes: [UInt8], isOver: Bool) {
        state.withLock { state in
            var bytes: [UInt8] = []
            swap(&bytes, &state.bytes)
            if state.missed > 0 {
                var event = Event(.missed)
                event.missed = state.missed
                bytes += EventRecord.line(event)
                state.missed = 0
            }
            return (bytes, state.isOver)
        }
    }
}

/// What the record held at one instant, read piece by piece when the reader wants it.
final class EventHistory: Sendable {
    /// A file of the record, up to where it counts.
    struct Part: Sendable {
        let file: SharedDescriptor
        let length: Int64
    }

    private struct State {
        var parts: [Part]
        var position: Int64 = 0
        /// The beginning of a line whose end is in the next piece.
        var rest: [UInt8] = []
    }

    private static let piece = 64 * 1024
    private let state: Mutex<State>

    /// - Parameter parts: the older file first.
    init(_ parts: [Part]) {
        state = Mutex(State(parts: parts))
    }

    /// - Returns: lines that are events, maybe none; nil at the end. What cannot be read is passed over.
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
