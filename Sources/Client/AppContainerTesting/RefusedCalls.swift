// The calls of a test that were refused, in words for its failures.

import AppContainer
import Platform
import SandboxModel
import Synchronization

/// The refusals that a test has expected. A failure of the test tells the others.
///
/// Lock: its own, for moments.
final class ExpectedRefusals: Sendable {
    /// A reading that was refused, with the times before and after it, as events have them.
    private struct Reading {
        var start: String
        var end: String
    }

    private struct State {
        var events: Set<Event> = []
        /// The expected refusals of a file's content, by the file's path in the home.
        var readings: [String: [Reading]] = [:]
    }

    private let state = Mutex(State())

    func add(_ events: [Event]) { state.withLock { $0.events.formUnion(events) } }

    /// A reading of a file was refused, as it should be. Its event, which is not looked for now, is one from meanwhile:
    /// where the record has left it out, no later refusal of the same file counts in its place.
    /// - Parameters:
    ///   - path: of the file, relative to the home.
    ///   - start: the time before, as ``Event/now`` has it.
    ///   - end: the time after.
    func addReading(of path: String, from start: String, to end: String) {
        state.withLock { $0.readings[path, default: []].append(Reading(start: start, end: end)) }
    }

    /// The refusals of a record that no expectation has asked for.
    func others(in record: [Event]) -> [Event] {
        var (expected, readings) = state.withLock { ($0.events, $0.readings) }
        return record.filter { event in
            guard event.event == .refused, expected.remove(event) == nil else { return false }
            guard Refusal.dataProtection.matches(event.rule), event.operation == "open", let path = event.path,
                let index = readings[path]?.firstIndex(where: { $0.start <= event.time && event.time <= $0.end })
            else { return true }
            readings[path]?.remove(at: index)
            return false
        }
    }
}

/// Lines of a failure, each on one refused call, its rule and its advice.
enum RefusedCalls {
    /// The number of calls that a failure tells; equal ones count once.
    private static let most = 5

    static func lines(of refusals: [Event]) -> [String] {
        var counts: [String: Int] = [:]
        var last: [String: Int] = [:]
        var left = 0
        for (index, refusal) in refusals.enumerated() {
            left += refusal.omitted ?? 0
            guard let line = line(of: refusal) else { continue }
            counts[line, default: 0] += 1
            last[line] = index
        }
        let lines = last.sorted { $0.value < $1.value }.map(\.key)
        var told = lines.suffix(most).map { line in
            counts[line, default: 1] > 1 ? "\(line) (\(counts[line]!) times)" : line
        }
        let earlier = lines.count - told.count
        if earlier > 0 { told.insert("refused: \(earlier) other calls before these", at: 0) }
        if left > 0 { told.append("refused: \(left) calls more that the device's record leaves out") }
        return told
    }

    /// - Returns: nil for a count of refusals, which describes none.
    private static func line(of refusal: Event) -> String? {
        guard !refusal.isSummary, let operation = refusal.operation else { return nil }
        let path = refusal.path.map { $0.isEmpty ? "the home" : $0.printable } ?? "a file that has no name any more"
        let app = refusal.app.map { " for \($0)" } ?? ""
        let call = "refused: \(operation) of \(path)\(app): \(refusal.errno ?? "an error")."
        guard let name = refusal.rule else { return call }
        guard let rule = Rule(rawValue: name) else { return "\(call) Rule \(name)." }
        return "\(call) Rule \(name): \(rule.words). Instead: \(rule.instead)."
    }
}

extension TestContainer {
    /// The calls that were refused since the test began, but for those that the test has expected and those that an
    /// earlier failure has told, in lines. The record is complete: a refused call is recorded before it returns. Blocks
    /// the thread for the time of one request, and in a test for two seconds at most.
    /// - Returns: none if the device does not answer.
    func refusedCalls() -> [String] { told.lines(but: expected) { try await self.ownEvents() } }
}

extension String {
    /// The text with a mark in place of every character that a terminal obeys, or that ends a line.
    var printable: String { replacingControls(by: "\u{FFFD}") }

    func replacingControls(by mark: Unicode.Scalar) -> String {
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: text.append(mark)
            default: text.append(scalar.properties.isBidiControl ? mark : scalar)
            }
        }
        return String(text)
    }
}
