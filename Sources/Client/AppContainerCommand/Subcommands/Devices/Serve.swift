// appcontainer daemon: the process of a device, which other commands start.

import ArgumentParser
import Daemon

/// `AppContainerCommand` runs this command before the parser, which makes its start faster. This declaration handles
/// other arguments than one absolute path.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Serve a device; other commands start this.", shouldDisplay: false)

    @Argument(completion: .directory)
    var device: String

    func run() async throws {
        throw ExitCode(await DaemonProcess.run(device: device))
    }
}
