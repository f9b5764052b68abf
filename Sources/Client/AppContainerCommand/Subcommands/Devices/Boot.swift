// appcontainer boot: starts the daemon of a device.

import AppContainer
import ArgumentParser
import Daemon

/// The socket is the whole answer, so that it can be used in a command substitution. Warnings of the start go to
/// standard error.
struct Boot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a device's daemon, and show its control socket.",
        discussion: """
            Other commands start the daemon when they need it; boot is for a harness that speaks to the daemon itself. \
            A device that is on already is left as it is.

            Example:
              curl --unix-socket "$(appcontainer boot ~/phone)" http://device/v1/status
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let client = try await DaemonLauncher.connect(to: device.path(), warn: StandardError.warn)
        if answer.json { return try Output.json(["socket": client.socket]) }
        try Output.line(client.socket)
    }
}
