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
        let (ends, end) = AsyncStream<Void>.makeStream()
        let signals = Interrupts { end.finish() }
        defer { signals.end() }
        let display = TopDisplay { key in if [UInt8(ascii: "q"), UInt8(ascii: "Q")].contains(key) { end.finish() } }
        defer { display.end() }
        let further = Interrupts(of: TopDisplay.signals) { display.take($0) }
        defer { further.end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ends {} }
            group.addTask {
                let watch = DeviceWatch(path)
                while true {
                    try display.show(try await watch.snapshot(refusals: Terminal.size?.rows ?? 24))
                    try await Task.sleep(for: .seconds(1))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// Takes snapshots of a device, each with the requests since the one before.
private final class DeviceWatch {
    private let path: String
    private var before: (activity: Activity, process: Int32?, time: ContinuousClock.Instant)?

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
        let process = status.daemon.pid
        // Another process counts from 0.
        let earlier = before.map { before in
            (
                before.process == process ? before.activity : Activity(requests: [:]),
                seconds: before.time.duration(to: now) / .seconds(1)
            )
        }
        before = (activity, process, now)
        return TopSnapshot(
            status: status, apps: apps, activity: activity, before: earlier,
            refused: try EventRecord.last(refusals, named: .refused, of: path))
    }
}
