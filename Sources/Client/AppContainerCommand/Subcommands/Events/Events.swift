// appcontainer events: prints the record of events.

import AppContainer
import ArgumentParser
import Daemon
import Platform
import SandboxModel

/// Without `--follow` the record is read here, as its files can be read while a daemon writes them. Following needs the
/// daemon: only it misses no event between the record's end and the next write.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what has happened on a device, and which calls were refused and why.",
        discussion: """
            One JSON object a line, the oldest first: time, event, and as they apply app, path, operation, pid, \
            process, rule and errno; appcontainer(7) lists all. The device may be on or off, and stays so.

            With --follow, prints each further event as it comes, until it is interrupted or the device is shut down \
            (exit code 29). That needs the device's daemon, which is started if it is not running.

            Example:
              appcontainer events ~/phone --follow | grep refused
            """)

    @OptionGroup var device: DeviceArgument
    @Flag(help: "Print what there is, and then each event as it comes.")
    var follow = false
    @Flag(help: "Print JSON, which this query does anyway.")
    var json = false

    func run() async throws {
        guard follow else {
            return try Output.lines(EventRecord.entries(of: device.path()).map { shown($0.line) })
        }
        try Events.endWithOutput()
        let path = try device.path()
        let client = try await DaemonLauncher.connect(to: path, warn: StandardError.warn)
        var events = client.events.makeAsyncIterator()
        while let line = try await Events.next(&events) { try Output.line(shown(line)) }
        // Not success: a script that follows must not take the end of the device for its own.
        throw Complaint(.shuttingDown, "\(path) was shut down; there are no further events")
    }

    /// A line as printed: on a terminal, the word of a refusal or of damage stands out unless JSON was asked for.
    private func shown(_ line: String) -> String {
        var line = line.jsonForTerminals
        guard !json else { return line }
        for word in ["refused", "corrupt"] {
            // A quotation mark inside of a value has a backslash before it.
            guard let place = line.firstRange(of: "\"event\":\"\(word)\"") else { continue }
            line.replaceSubrange(place, with: "\"event\":\(Style.refused("\"\(word)\""))")
        }
        return line
    }

    /// - Returns: the line as the daemon sent it; nil when the device has ended.
    private static func next(_ events: inout DeviceEvents.Iterator) async throws(Complaint) -> String? {
        do throws(DeviceError) {
            return try await events.nextWithLine()?.line
        } catch {
            throw Complaint(error)
        }
    }

    /// Ends the command as soon as its output is closed, because the next event may come late.
    private static func endWithOutput() throws(Complaint) {
        do throws(SystemError) {
            try HostThread(name: "output") {
                Terminal.waitUntilOutputCloses()
                Terminal.endUnread()
            }.detach()
        } catch {
            throw Complaint(error, doing: "cannot watch standard output")
        }
    }
}
