// appcontainer lock: locks a device.

import AppContainer
import ArgumentParser

/// Ends with exit code 33 if an unlock cancels the lock during the grace period, 31 if the device has no passcode.
struct Lock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lock a device.",
        discussion: """
            Announces the lock, waits out the grace period, and returns when the device is locked. Data written to \
            files of class complete is then on disk, and neither those nor new files of that class can be opened, read \
            or written. An unlock during the grace period cancels it. A device that is locked already, or before its \
            first unlock, is left so.
            """)

    @OptionGroup var device: DeviceArgument
    @Flag(help: "Skip the grace period.")
    var now = false
    @Flag(help: "Return when the lock is announced.")
    var noWait = false
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if now && noWait { throw ValidationError("--now and --no-wait contradict each other") }
    }

    func run() async throws {
        _ = try await device.send(LockRequest(now: now, wait: !noWait))
        if answer.json { try Output.json(try await DeviceState(of: device)) }
    }
}
