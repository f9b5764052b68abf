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
        lines += apps.count <= mostApps ? apps : cut(apps, to: mostApps)
        lines += refused.prefix(max(rows - lines.count, 0))
        return Array(lines.prefix(rows))
    }

    /// Drops the last lines, and says how many.
    private func cut(_ lines: [String], to count: Int) -> [String] {
        guard count > 0 else { return [] }
        let dropped = lines.count - count + 1
        return lines.prefix(count - 1) + [line("  and \(dropped) more", Style.faint)]
    }

    // MARK: Parts

    private var head: [String] {
        let status = snapshot.status
        var state = status.state
        if let left = status.graceRemaining { state += ", locked in \(Int(left.rounded(.up))) s" }
        if let wait = status.passcodeWait { state += ", takes a passcode in \(wait) s" }
        let time = String(snapshot.time.dropFirst(11).prefix(8)) + " UTC"
        var lines = [
            row(status.device, (state, Style(ofState: status.state)), time)
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
        return [Style.heading(line(DisplayWidth.padded("APP", to: width) + "STATE"))]
            + snapshot.apps.map { app in
                let state = app.running ? app.state.rawValue : app.mountPoint == nil ? "not running" : "mounted"
                return line(DisplayWidth.padded(DisplayWidth.fitted(app.identifier, to: width - 1), to: width) + state)
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
        let fitted = DisplayWidth.fitted(text, to: columns)
        return style?(fitted) ?? fitted
    }

    /// A path, a state and a time. Where there is too little place the path gives way first, and then the time.
    private func row(_ path: String, _ state: (text: String, style: Style), _ time: String) -> String {
        let state = (text: DisplayWidth.fitted(state.text, to: columns), style: state.style)
        var left = columns - DisplayWidth.of(state.text)
        let timeWidth = time.utf8.count + 2
        let isTimed = left >= timeWidth
        if isTimed { left -= timeWidth }
        let path = DisplayWidth.fitted(path, to: max(left - 2, 0))
        if !path.isEmpty { left -= DisplayWidth.of(path) + 2 }
        return (path.isEmpty ? "" : Style.heading(path) + "  ") + state.style(state.text)
            + (isTimed ? String(repeating: " ", count: left + 2) + time : "")
    }

    private static func text(_ number: Double) -> String {
        number >= 10 || number == number.rounded() ? "\(Int(number.rounded()))" : "\(number)"
    }
}
