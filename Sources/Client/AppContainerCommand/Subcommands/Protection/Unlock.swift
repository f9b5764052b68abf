// appcontainer unlock: unlocks a device.

import AppContainer
import ArgumentParser
import SandboxModel

/// Ends with exit code 17 for a wrong passcode, 32 for any passcode during a delay, 58 for the one that has erased the
/// device.
struct Unlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unlock a device with its passcode.",
        discussion: """
            The passcode is the first line of the file. Without a file it is asked for on the terminal, where it is \
            not shown, or else is one line of standard input. A device without one is always unlocked: nothing is \
            asked for.

            The first five wrong passcodes are free. Then each attempt has to wait, 1, 5, 15 and from then on 60 \
            minutes; while it waits the right passcode is refused as well. The tenth erases a device that is set so \
            (passcode --erase-after-ten).
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: "The file whose first line is the passcode.", completion: .file())
    var passcodeFile: String?
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        // Opens the device before asking for a passcode.
        let isNeeded = try OfflineDevice.hasPasscode(try device.path())
        // Starting the daemon unlocks a device without a passcode; any given one is ignored.
        let passcode = try passcodeFile.map(PasscodeSource.read) ?? (isNeeded ? PasscodeSource.ask() : "")
        _ = try await device.send(UnlockRequest(passcode: passcode))
        if answer.json { try Output.json(try await DeviceState(of: device)) }
    }
}
