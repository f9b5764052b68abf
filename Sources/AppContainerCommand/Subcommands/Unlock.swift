// appcontainer unlock

import AppContainer
import ArgumentParser
import SandboxModel

struct Unlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unlock a device with its passcode.",
        discussion: """
            The passcode is the first line of the file. Without a file it is asked for on the terminal, where it is \
            not shown, or else is one line of standard input.
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: "The file whose first line is the passcode.", completion: .file())
    var passcodeFile: String?

    func run() async throws {
        // Before a passcode is asked for, there should be a device that it belongs to.
        _ = try device.path()
        let passcode = try passcodeFile.map(Passcode.read) ?? Passcode.ask()
        _ = try await device.send(UnlockRequest(passcode: passcode))
    }
}
