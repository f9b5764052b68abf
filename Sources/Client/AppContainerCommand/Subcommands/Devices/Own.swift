// appcontainer own: serves a device for a test harness.

import ArgumentParser
import Daemon

/// `AppContainerCommand` runs this command before the parser, which makes its start faster. This declaration gives it
/// its help, and handles `own` with further arguments.
struct Own: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a device that goes with its owner, for a test harness.",
        discussion: """
            Reads one line of JSON from standard input that says which device to make, answers with one line of JSON \
            that names the control socket, and serves the device until standard input ends: then everything is \
            unmounted and the device deleted. A harness keeps the other end of that input open, and needs to do \
            nothing more: when the harness is killed, the kernel closes it.

            Example:
              {"device":"/tmp/phone","clone":"/home/me/template"}
            """)

    func run() async throws {
        throw ExitCode(await OwnedDevice.run())
    }
}
