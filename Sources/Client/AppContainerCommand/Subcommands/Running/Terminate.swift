// appcontainer terminate: ends a running app.

import AppContainer
import ArgumentParser

/// Ends with exit code 42 if the app does not run, 23 if a process of it is another user's, 20 if one does not end.
struct Terminate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End an app that is running.",
        discussion: """
            Processes of run and launch get SIGTERM, and SIGKILL if they still run five seconds later; those of a \
            suspended app get SIGKILL at once. An app that launch --no-exec or mount --running has marked stops \
            counting as running; the mount stays.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Flag(help: "Kill it at once, as a phone does where memory is short.")
    var memory = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        _ = try await device.send(TerminateRequest(app: app.bundleID, memory: memory))
        if answer.json { try Output.json(try await AppState(of: app.bundleID, on: device)) }
    }
}
