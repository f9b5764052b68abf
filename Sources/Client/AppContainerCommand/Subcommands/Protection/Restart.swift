// appcontainer restart: restarts a device.

import AppContainer
import ArgumentParser

/// Ends with exit code 23 if an app's process is another user's, 20 if one does not end: nothing is restarted then.
struct Restart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do to a device what a reboot does.",
        discussion: """
            Apps that are running are killed. Everything is written out and the keys go. Files that are open answer \
            EIO from then on; mounts and directories go on working. A device with a passcode is then before its first \
            unlock.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        _ = try await device.send(RestartRequest())
        if answer.json { try Output.json(try await DeviceState(of: device)) }
    }
}
