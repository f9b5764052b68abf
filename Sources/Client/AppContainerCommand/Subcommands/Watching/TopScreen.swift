// A snapshot as lines of a terminal.

import AppContainer
import FoundationEssentials
import SandboxModel

/// Lays a snapshot out for a terminal of a size, so that it fits whatever it holds.
struct TopScreen {
    let snapshot: TopSnapshot
    let columns: Int
    let rows: Int

    /// As many lines as the terminal has, none longer than it is wide.
    var lines: [String] {
        var lines = head
        let apps = self.apps
        let refused = self.refused
        let left = max(rows - lines.count, 0)
        // Half for each, and what one does not need for the other.
        let mostApps = max(left / 2, left - refused.count)
        lines += apps.count <= mostApps ? apps : TopScreen.cut(apps, to: mostApps)
        lines += refused.prefix(max(rows - lines.count, 0))
        return Array(lines.prefix(rows))
    }

    /// Drops the last lines, and says how many.
    private static func cut(_ lines: [String], to count: Int) -> [String] {
        guard count > 0 else { return [] }
        let dropped = lines.count - count + 1
        return lines.prefix(count - 1) + [Style.faint("  and \(dropped) more")]
    }

    // MARK: Parts

    private var head: [String] {
        let status = snapshot.status
        var state = status.state
        if let left = status.graceRemaining { state += ", locked in \(Int(left.rounded(.up))) s" }
        if let wait = status.passcodeWait { state += ", takes a passcode in \(wait) s" }
        let time = String(snapshot.time.dropFirst(11).prefix(8)) + " UTC"
        var lines = [
            row([(status.device, Style.heading), (state, Style(ofState: status.state))], last: time)
        ]
        if let space = status.space {
            lines.append(
                line(
                    "Space     \(Output.size(space.used)) used, \(Output.size(space.available)) available of "
                        + "\(Output.size(space.capacity)), \(Output.size(space.purgeable)) purgeable"))
        }
        let rates = snapshot.requestsPerSecond.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let total = rates.reduce(0) { $0 + $1.value }
        let kinds = rates.prefix(6).map { "\($0.key) \(TopScreen.text($0.value))" }.joined(separator: ", ")
        lines.append(line("Requests  \(TopScreen.text(total)) a second\(kinds.isEmpty ? "" : ": \(kinds)")"))
        return lines + [""]
    }

    private var apps: [String] {
        guard !snapshot.apps.isEmpty else { return [] }
        let width = max(columns - 30, 10)
        return [Style.heading(line(TopScreen.padded("APP", to: width) + "STATE"))]
            + snapshot.apps.map { app in
                let state = app.running ? app.state.rawValue : app.mountPoint == nil ? "not running" : "mounted"
                return line(TopScreen.padded(fitted(app.identifier, width - 1), to: width) + state)
            }
    }

    private var refused: [String] {
        guard !snapshot.refused.isEmpty else { return [] }
        return ["", Style.heading(line("REFUSED"))]
            + snapshot.refused.map { event in
                let time = event.time.dropFirst(11).prefix(8)
                let caller = "\(event.process ?? "a process") \(event.operation ?? "calls left out")"
                return line("\(time)  \(caller)  \(event.path ?? "")  \(event.rule ?? "")", Style.refused)
            }
    }

    // MARK: Text

    /// Text on one line of the terminal, with its look.
    private func line(_ text: String, _ style: Style? = nil) -> String {
        let fitted = fitted(text, columns)
        return style?(fitted) ?? fitted
    }

    /// Words at the left and one at the right.
    private func row(_ words: [(text: String, style: Style)], last: String) -> String {
        var left = columns - last.count - 2
        var line = ""
        for (index, word) in words.enumerated().reversed() {
            // The first word gives way: it is a path.
            let text = fitted(word.text, index == 0 ? max(left, 0) : columns / 2)
            left -= text.count + (index == 0 ? 0 : 2)
            line = (index == 0 ? "" : "  ") + word.style(text) + line
        }
        return line + String(repeating: " ", count: max(left, 0) + 2) + last
    }

    /// The text without what a terminal obeys, and without its end where it is too long.
    private func fitted(_ text: String, _ width: Int) -> String {
        let text = text.onOneLine
        return text.count <= width ? text : String(text.prefix(max(width - 1, 0))) + "…"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    private static func text(_ number: Double) -> String {
        number >= 10 || number == number.rounded() ? "\(Int(number.rounded()))" : "\(number)"
    }
}
