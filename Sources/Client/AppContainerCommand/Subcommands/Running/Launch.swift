// appcontainer launch: starts an app without waiting for it.

import AppContainer
import ArgumentParser
import SandboxModel

/// The process is a child of this command, and gets another parent when the command ends; the daemon watches it by its
/// process identifier. Failures have the exit codes of ``RunFailure``; those of `--no-exec`, which starts no process,
/// have the codes of their kinds.
struct Launch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start an app and let it go on by itself.",
        discussion: """
            Does what run does with the bundle's main executable, prints its process id and returns. The app counts \
            as running until that process has ended, and is mounted for that time if it was not mounted before.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp("Start one of the app's extensions in its place, in its own home.", valueName: "name"),
        completion: Completions.extensions)
    var appExtension: String?
    @Flag(help: "Start nothing: the app counts as running until it is terminated.")
    var noExec = false
    @Flag(help: "Read the whole bundle first, not only what looks as if it had been written to.")
    var verifyAll = false

    func validate() throws {
        if noExec && verifyAll { throw ValidationError("--no-exec and --verify-all contradict each other") }
    }

    func run() async throws {
        guard !noExec else {
            _ = try await device.send(MarkRunningRequest(app: app.bundleID, extension: appExtension))
            return
        }
        let process = try await RunFailure.reporting {
            let request = RunRequest(
                app: app.bundleID, extension: appExtension, verifyAll: verifyAll, detached: true)
            return try await RunnableProgram(request, on: device, []).launch()
        }
        try Output.line("\(process)")
    }
}
