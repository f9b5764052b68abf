// appcontainer events

import ArgumentParser
import Daemon
import SandboxModel

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what has happened on a device, and which calls were refused and why.",
        discussion: """
            One JSON object a line, the oldest first: time, event, and as they apply app, path, operation, pid, \
            process, rule and errno. The device may be on or off. This command never starts the daemon.
            """)

    @OptionGroup var device: DeviceArgument
    @Flag(help: "Print JSON, which this query does anyway.")
    var json = false

    func run() async throws {
        try Output.lines(try EventRecord.entries(of: try device.path()).map(\.line))
    }
}
