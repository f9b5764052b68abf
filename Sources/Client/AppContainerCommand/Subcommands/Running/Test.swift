// appcontainer test: runs a command against a copy of a device.

import AppContainer
import ArgumentParser
import Daemon
import FoundationEssentials
import Platform
import SandboxModel

/// Uses the public library `AppContainer`, as another harness would. The copy's process ends with this one, even if
/// this one is killed. Exit codes are those of `run`.
struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command once against a fresh copy of a device.",
        discussion: """
            TEMPLATE is a device that is shut down. The command finds its copy in the environment: \
            APPCONTAINER_DEVICE is the device's directory, APPCONTAINER_SOCKET its control socket, and APPCONTAINER \
            the path of this command. The template's only app, or the one that --app names, is mounted: \
            APPCONTAINER_APP is its identifier and APPCONTAINER_HOME its home. The copy is gone when the command has \
            ended, also when this one is killed.

            The command's exit status is passed on. This command's own failures are 125; 126 is a command that cannot \
            be run, and 127 one that is not there.

            Example:
              appcontainer test ~/template --junit refusals.xml -- make check
            """)

    @Argument(help: "The device to copy.", completion: .directory)
    var template: String
    @Option(help: "The app to mount, of several.", completion: Completions.apps)
    var app: String?
    @Option(help: "Unlock the copy first, with the passcode in the file's first line.", completion: .file())
    var passcodeFile: String?
    @Option(
        help: "Write a JUnit file: whether the command succeeded, and each call that the device refused meanwhile.",
        completion: .file(extensions: ["xml"]))
    var junit: String?
    @Argument(parsing: .postTerminator, help: "The command and its arguments.", completion: .file())
    var command: [String] = []
    @OptionGroup var trustedOwner: TrustOption

    func validate() throws {
        if command.isEmpty { throw ValidationError("Missing the command: write it after --") }
    }

    func run() async throws {
        let end = try await RunFailure.reporting { try await reported() }
        switch end {
        case .exited(let status): throw ExitCode(status)
        case .killed(let number):
            ProcessSettings.end(by: number)
            throw ExitCode(128 + number)
        }
    }

    /// Runs the command, and writes the report in any case, so that no report of an earlier run remains.
    /// - Throws: ``RunFailure``.
    private func reported() async throws -> ChildProcess.End {
        // First, in case this process is killed, and to fail now if the report cannot be written.
        if let junit, !Output.isStream(junit) { try write(.failed("the command did not come to its end")) }
        do {
            let (end, duration, refusals) = try await RunFailure.of { try await tested() }
            try write(.ended(end), duration, refusals)
            return end
        } catch let failure as RunFailure {
            // The failure itself is the error to report, not one of writing about it.
            try? write(.failed(failure.message))
            throw failure
        }
    }

    /// Writes the report, if one is wanted.
    private func write(
        _ outcome: JUnitFile.Outcome, _ duration: Duration = .zero, _ refusals: [Event] = []
    ) throws(Complaint) {
        guard let junit else { return }
        let file = JUnitFile(command: command, outcome: outcome, duration: duration, refusals: refusals)
        try Output.write(file.xml, to: junit)
    }

    /// The duration is that of the command alone. Refusals are collected for a report only.
    private typealias Tested = (end: ChildProcess.End, duration: Duration, refusals: [Event])

    /// Runs the command on a copy of the device, and ends the copy in any case.
    private func tested() async throws -> Tested {
        let passcode = try passcodeFile.map(PasscodeSource.read)
        try Complaint.wrap("cannot tell where this command is") { () throws(SystemError) in
            // The library, and the command, must start this program.
            try ProcessSettings.setVariable("APPCONTAINER", to: ProcessSettings.executable())
        }
        let copy = try await Device.temporary(copyOf: template, passcode: passcode)
        do {
            let tested = try await run(on: copy)
            await copy.end()
            return tested
        } catch {
            await copy.end()
            throw error
        }
    }

    /// Unlocks and mounts the copy, runs the command, and reads the events before the copy is gone.
    private func run(on copy: Device) async throws -> Tested {
        if copy.passcode != nil { try await copy.unlock() }
        let mount = try await mount(on: copy)
        let begin = ContinuousClock.now
        let end = try runCommand(on: copy, mount)
        let duration = ContinuousClock.now - begin
        // The record is read through the daemon, which writes the refusals that it only counted so far.
        guard junit != nil else { return (end, duration, []) }
        let events = try? await copy.recordedEvents()
        if events == nil { StandardError.warn("the copy has ended before the command; its events are lost") }
        return (end, duration, (events ?? []).filter { $0.event == .refused })
    }

    /// Mounts the app that was named, or the only app of the device; nil if there are several or none.
    private func mount(on copy: Device) async throws -> AppContainer.Mount? {
        if let app { return try await copy.mount(app) }
        let apps = try await copy.apps()
        guard apps.count == 1, let only = apps.first else { return nil }
        return try await copy.mount(only.identifier)
    }

    /// Runs the command with the variables that name the copy, and waits for its end.
    private func runCommand(on copy: Device, _ mount: AppContainer.Mount?) throws -> ChildProcess.End {
        var variables = ProcessInfo.processInfo.environment
        variables["APPCONTAINER_DEVICE"] = copy.path
        variables["APPCONTAINER_SOCKET"] = copy.client.socket
        // nil removes the variable that an outer `test` may have set.
        variables["APPCONTAINER_APP"] = mount?.app
        variables["APPCONTAINER_HOME"] = mount?.mountPoint
        let plan = ChildProcess.Plan(
            arguments: command, environment: variables.map { "\($0)=\($1)" }.sorted(),
            // Not the home: a build's working directory matters to it.
            directory: FileManager.default.currentDirectoryPath)
        let child = try Complaint.wrap("cannot start a process") { () throws(SystemError) in try ChildProcess(plan) }
        do throws(SystemError) {
            try child.start()
        } catch {
            throw RunFailure.cannotStart(command[0], error)
        }
        return try Complaint.wrap("cannot wait for the command") { () throws(SystemError) in try child.wait() }
    }
}
