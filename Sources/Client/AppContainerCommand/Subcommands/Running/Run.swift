// appcontainer run: runs a command in an app's container.

import AppContainer
import ArgumentParser
import Glibc
import Platform
import SandboxModel

/// The command is a child of this process, not of the daemon: it has the user's terminal, rights and signals. Its exit
/// status is passed on, and a signal that killed it kills this process too, as a shell expects.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command in an app's container.",
        discussion: """
            The app's seal is looked at first; a bundle that was changed since it was installed does not run. The \
            command, else the bundle's main executable, has the app's home as its working directory and as its HOME, \
            and its exit status is passed on. This command's own failures are 125; 126 is a command that cannot be \
            run, and 127 one that is not there.

            The app counts as running until the command has ended. An app that is not mounted is mounted for that \
            time. With --confine the command sees the app's home and the system's programs, and no network, and gets \
            few variables of the environment; that takes bubblewrap.

            Example:
              appcontainer run ~/phone com.example.Notes -- sh -c 'date > Documents/now'
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp("Run one of the app's extensions in its place, in its own home.", valueName: "name"),
        completion: Completions.extensions)
    var appExtension: String?
    @Flag(help: "Hide the rest of the machine from the command.")
    var confine = false
    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "Hand on a variable of the environment, or set it. May be repeated.", valueName: "name[=value]"))
    var variables: [String] = []
    @Flag(help: "Read the whole bundle first, not only what looks as if it had been written to.")
    var verifyAll = false
    @Argument(parsing: .postTerminator, help: "The command and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws { try RunEnvironment(named: variables).check() }

    func run() async throws {
        let end = try await RunFailure.reporting {
            let confinement = confine ? try Confinement() : nil
            let request = RunRequest(app: app.bundleID, extension: appExtension, verifyAll: verifyAll)
            let program = try await RunnableProgram(
                request, on: device, command, confinement, RunEnvironment(named: variables))
            return try await program.run()
        }
        switch end {
        case .exited(let status): throw ExitCode(status)
        case .killed(let number):
            // A shell ends a script after ^C only if a signal ended the command. The code is for one that ends nothing.
            ProcessSettings.end(by: number)
            throw ExitCode(128 + number)
        }
    }
}
