// appcontainer suspend: brings an app into the background and suspends it.

import AppContainer
import ArgumentParser

/// Ends with exit code 42 if the app does not run, or ends meanwhile; 60 if it is in the background already; 61 if it
/// was resumed meanwhile; 62 if a process does not stop.
struct Suspend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Suspend an app, as a phone does when another one is opened.",
        discussion: """
            The app enters the background and is told so; events has it, and UIApplication of ContainerFoundation. \
            Then its processes are frozen: at once, or after so many seconds, which end early with its last \
            background task. A process that then holds a lock on a file in a group container is killed, and named \
            here; explain says what to do.

            Processes are frozen by a control group where this user may make one, else by SIGSTOP. The app counts as \
            running. resume has it go on, and terminate, restart and shutdown end it.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Option(help: ArgumentHelp("The time in the background before.", valueName: "seconds"))
    var after: Double?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        guard let after, !(0...86_400).contains(after) else { return }
        throw ValidationError("--after takes a number of seconds from 0 to 86400")
    }

    func run() async throws {
        let report = try await device.send(SuspendRequest(app: app.bundleID, after: after))
        if answer.json { return try Output.json(report) }
        for name in report.unendedTasks {
            StandardError.warn("the background task \"\(name)\" was not ended; a phone ends an app for that")
        }
        for lock in report.terminated {
            let process = [lock.process ?? "A process", "(\(lock.pid))"].joined(separator: " ")
            try Output.line("\(process) held a lock (\(lock.lock)) on \(lock.path): killed, 0xdead10cc".onOneLine)
        }
    }
}
