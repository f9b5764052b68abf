// appcontainer resume: brings an app to the foreground.

import AppContainer
import ArgumentParser

/// Ends with exit code 61 if the app is neither suspended nor in the background.
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring an app to the foreground that is suspended or in the background.",
        discussion: """
            Its processes go on, and are told: events has it, and UIApplication of ContainerFoundation. A suspend that \
            waits for the end of its time in the background fails with exit code 61.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        _ = try await device.send(ResumeRequest(app: app.bundleID))
        if answer.json { try Output.json(try await AppState(of: app.bundleID, on: device)) }
    }
}
