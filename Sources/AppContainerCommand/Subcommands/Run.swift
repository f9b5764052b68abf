// appcontainer run and appcontainer launch

import AppContainer
import ArgumentParser
import Foundation
import Glibc
import Platform
import SandboxModel

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command in an app's container.",
        discussion: """
            The app's seal is looked at first; a bundle that was changed since it was installed does not run. The \
            command, else the bundle's main executable, has the app's home as its working directory and as its HOME, \
            and its exit status is passed on. This command's own failures are 125; 126 is a command that cannot be \
            run, and 127 one that is not there. An app that is not mounted is mounted for that time.

            Example:
              appcontainer run ~/phone com.example.Notes -- sh -c 'date > Documents/now'
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Flag(help: "Read the whole bundle first, not only what looks as if it had been written to.")
    var verifyAll = false
    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func run() async throws {
        let request = RunRequest(app: app.bundleID, verifyAll: verifyAll)
        let program = try await Program.prepare(request, on: device, command)
        let child = try program.start(detached: false)
        let forwarded = ForwardedSignals(to: child)
        let end = try Program.failing { () throws(Complaint) in
            try Complaint.wrap("cannot wait for the command") { () throws(SystemError) in try child.wait() }
        }
        forwarded.end()
        await program.leave(device)
        switch end {
        case .exited(let status): throw ExitCode(status)
        case .killed(let number):
            ProcessSettings.end(by: number)
            throw ExitCode(128 + number)
        }
    }
}

struct Launch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start an app and let it go on by itself.",
        discussion: """
            Does what run does with the bundle's main executable, prints its process id and returns. An app that is \
            not mounted stays mounted until the device is shut down.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Flag(help: "Read the whole bundle first, not only what looks as if it had been written to.")
    var verifyAll = false

    func run() async throws {
        let request = RunRequest(app: app.bundleID, verifyAll: verifyAll, detached: true)
        let program = try await Program.prepare(request, on: device, [])
        let child = try program.start(detached: true)
        try Output.line("\(child.identifier)")
    }
}

/// What is run in an app's container.
private struct Program {
    /// As env(1) has them.
    private enum Failure {
        static let own: Int32 = 125
        static let cannotRun: Int32 = 126
        static let notFound: Int32 = 127
    }

    let place: RunnableApp
    let arguments: [String]

    static func prepare(
        _ request: RunRequest, on device: DeviceArgument, _ command: [String]
    ) async throws -> Program {
        do {
            let place = try await showingProgress { line in
                try await device.send(request, progress: line.report)
            }
            guard let first = command.first ?? place.executable else {
                throw Complaint(
                    .invalidApp, "the Info.plist of \(request.app) names no executable; name a command after --")
            }
            return Program(place: place, arguments: [first] + command.dropFirst())
        } catch let complaint as Complaint {
            throw failed(complaint)
        }
    }

    func start(detached: Bool) throws -> ChildProcess {
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in place.environment { variables[name] = value }
        do throws(SystemError) {
            return try ChildProcess(
                arguments: arguments, environment: variables.map { "\($0)=\($1)" }.sorted(),
                directory: place.mountPoint, detached: detached)
        } catch {
            StandardError.complain("cannot run \(arguments[0]): \(error.message)")
            throw ExitCode(error == .noEntry ? Failure.notFound : Failure.cannotRun)
        }
    }

    /// Takes the mount away that was made for this; while somebody else runs in it, it stays for them.
    func leave(_ device: DeviceArgument) async {
        guard place.isMountedToRun else { return }
        _ = try? await device.send(UnmountRequest(mountPoint: place.mountPoint))
    }

    static func failing<Result>(_ body: () throws(Complaint) -> Result) throws -> Result {
        do throws(Complaint) {
            return try body()
        } catch {
            throw failed(error)
        }
    }

    private static func failed(_ complaint: Complaint) -> ExitCode {
        StandardError.complain(complaint.message)
        return ExitCode(Failure.own)
    }
}

/// Hands signals on that ask this process to end. Those of the terminal reach the command by themselves.
private final class ForwardedSignals {
    private let sources: [any DispatchSourceSignal]
    private static let ofTerminal = [SIGINT, SIGQUIT]

    init(to child: ChildProcess) {
        for number in ForwardedSignals.ofTerminal { signal(number, SIG_IGN) }
        sources = [SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { child.send(number) }
            source.resume()
            return source
        }
    }

    func end() {
        for source in sources { source.cancel() }
    }
}
