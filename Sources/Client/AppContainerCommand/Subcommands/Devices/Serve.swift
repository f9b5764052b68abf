// appcontainer daemon: the command that a daemon's process runs.

import ArgumentParser
import Daemon

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Serve a device; other commands start this.", shouldDisplay: false)

    @Argument(completion: .directory)
    var device: String

    func run() async throws {
        throw ExitCode(await DaemonProcess.run(device: device))
    }
}
