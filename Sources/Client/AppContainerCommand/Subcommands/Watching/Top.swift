// appcontainer top: shows a device in a terminal, again each second.

import AppContainer
import ArgumentParser
import BackingStore
import Daemon
import Glibc
import Platform
import SandboxModel

/// Looks at a device by its control API, and changes nothing. A device that is off is shown as off, and not turned on.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a device's state, its apps and its refusals in a terminal, again each second.",
        discussion: """
            Shows the state, the space, the kernel's requests a second by kind, the apps, and the last refused calls. \
            It ends at q or ^C. With --once it watches for one second, prints that and ends; --json prints it as JSON, and \
            implies --once.
            """)

    @OptionGroup var device: DeviceArgument
    @Flag(help: "Watch for one second, print, and end.")
    var once = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let path = try device.path()
        try ForeignDaemon.requireNone(of: path)
        if once || answer.json {
            let watch = DeviceWatch(path)
            _ = try await watch.snapshot(refusals: 0)
            try? await Task.sleep(for: .seconds(1))
            let snapshot = try await watch.snapshot(refusals: 10)
            if answer.json { return try Output.json(snapshot) }
            return try Output.lines(TopScreen(snapshot: snapshot, columns: 80, rows: .max).lines)
        }
        guard Terminal.isTerminal(STDOUT_FILENO), Style.isCapable(ProcessSettings.variable("TERM")) else {
            throw Complaint(.badRequest, "standard output is no terminal that can be drawn on; use --once")
        }
        try await Top.draw(path)
    }

    /// Draws until `q` is pressed or a signal comes, and leaves the terminal as it was.
    private static func draw(_ path: String) async throws {
        let drawing = Task {
            let watch = DeviceWatch(path)
            while true {
                let size = Terminal.size ?? (columns: 80, rows: 24)
                let snapshot = try await watch.snapshot(refusals: size.rows)
                let lines = TopScreen(snapshot: snapshot, columns: size.columns, rows: size.rows).lines
                try Terminal.writeOutput(Top.home + lines.joined(separator: Top.nextLine) + Top.clearRest)
                try await Task.sleep(for: .seconds(1))
            }
        }
        let signals = Interrupts { drawing.cancel() }
        defer { signals.end() }
        let keys = TerminalKeys { key in if [UInt8(ascii: "q"), UInt8(ascii: "Q")].contains(key) { drawing.cancel() } }
        defer { keys?.end() }
        try Terminal.writeOutput(Top.enter)
        defer { try? Terminal.writeOutput(Top.leave) }
        do {
            try await drawing.value
        } catch is CancellationError {
        }
    }

    // ECMA-48 and xterm: the second screen without a cursor, and back.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leave = "\u{1B}[?25h\u{1B}[?1049l"
    private static let home = "\u{1B}[H"
    private static let nextLine = "\u{1B}[K\r\n"
    private static let clearRest = "\u{1B}[K\u{1B}[J"
}

/// Takes snapshots of a device, each with the requests since the one before.
private final class DeviceWatch {
    private let path: String
    private var before: (activity: Activity, time: ContinuousClock.Instant)?

    init(_ path: String) {
        self.path = path
    }

    /// - Parameter refusals: the most refusals to show.
    func snapshot(refusals: Int) async throws(Complaint) -> TopSnapshot {
        let found = try await DaemonLauncher.askRunning(path) { (client) throws(DeviceError) in
            (
                try await client.status(), try await client.send(AppsRequest()),
                try await client.send(ActivityRequest())
            )
        }
        let (status, apps, activity): (DeviceStatus, [App], Activity)
        if let found {
            (status, apps, activity) = found
        } else {
            (status, apps, activity) = (try OfflineDevice.status(path), [], Activity(requests: [:]))
        }
        let now = ContinuousClock.now
        let earlier = before.map { ($0.activity, seconds: ($0.time.duration(to: now)) / .seconds(1)) }
        before = (activity, now)
        return TopSnapshot(
            status: status, apps: apps, activity: activity, before: earlier,
            refused: try EventRecord.last(refusals, named: .refused, of: path))
    }
}
