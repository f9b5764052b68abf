// The root command: its subcommands, and the conversion of an error to a line and an exit code.

import AppContainer
import ArgumentParser
// Linked for its two functions, which take the place of libdispatch's.
import CWorkers
import Daemon
import Glibc
import Platform
import SandboxModel

/// The command `appcontainer`.
///
/// Every subcommand throws a ``Complaint``, which becomes one line on standard error, or an `ExitCode` if it has
/// printed its failures itself. Answers go to standard output, everything else to standard error.
struct AppContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appcontainer",
        abstract: "Mount an iOS app's container, with the rules that an iPhone enforces.",
        discussion: """
            A device is a directory that holds everything: keys, apps and their containers. Nothing outside it is \
            changed, and while it is shut down it can be copied like any directory.

            A first session:
              appcontainer create ~/phone
              appcontainer install ~/phone Notes.app
              mkdir ~/notes && appcontainer mount ~/phone com.example.Notes ~/notes
              echo hello > ~/notes/Documents/hello.txt
              appcontainer unmount ~/notes
              appcontainer shutdown ~/phone

            A failure is told in one line. Its exit code is listed in appcontainer(1); 64 is wrong usage.
            """,
        version: AppContainer.version, subcommands: [Serve.self],
        groupedSubcommands: groups)

    /// The subcommands, in the groups and the order of the help.
    private static let groups = [
        CommandGroup(
            name: "Device",
            subcommands: [
                Create.self, Clone.self, Export.self, Import.self, Erase.self, Delete.self, Boot.self, Own.self,
                List.self, Status.self,
                Lock.self,
                Unlock.self, Restart.self,
                Passcode.self, Capacity.self, Shutdown.self, Purge.self, Backup.self, Restore.self,
                BackupPassword.self, Schedule.self, Clock.self, Conditions.self, Check.self,
                Events.self, Explain.self, UserInterface.self, Top.self, Test.self, VolumesCommand.self,
            ]),
        CommandGroup(
            name: "App",
            subcommands: [
                Install.self, Uninstall.self, Apps.self, Entitle.self, Reset.self, Deliver.self, Path.self, Audit.self,
                Report.self, Run.self, Launch.self, Terminate.self, Suspend.self, Resume.self,
            ]),
        CommandGroup(
            name: "Mount",
            subcommands: [Mount.self, Unmount.self, Inspect.self, Protect.self, Exclude.self, Include.self]),
        CommandGroup(name: "Seal", subcommands: [Identity.self, Seal.self, Verify.self]),
    ]

    /// Runs the command of the arguments, and ends the process with an exit code for every failure: that of the
    /// complaint's kind, that of an `ExitCode`, or 64 (`EX_USAGE`) for wrong usage. Returns after success.
    static func main() async {
        if SystemMount.isCalled { await SystemMount.main() }
        let arguments = CommandLine.arguments.dropFirst()
        // First, and it does not return for these two commands.
        await serve(arguments)
        requireText(orEndWith: EX_USAGE)
        do {
            try requireCommand(arguments)
            var command = try parseAsRoot(Array(arguments))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let complaint as Complaint {
            end(with: complaint)
        } catch let code as ExitCode {
            Glibc.exit(code.rawValue)
        } catch {
            end(with: error)
        }
    }

    /// Answers where there is no /proc, and ends the process: help and wrong usage as ever, and all else with the
    /// complaint. On the first thread alone: libdispatch ends a process whose threads it cannot look at in /proc.
    static func refuse(_ complaint: Complaint) -> Never {
        if SystemMount.isCalled { SystemMount.end(with: complaint) }
        let arguments = CommandLine.arguments.dropFirst()
        if Array(arguments) == [Own._commandName] { Glibc.exit(OwnedDevice.refuse(complaint)) }
        do {
            try requireCommand(arguments)
            var command = try parseAsRoot(Array(arguments))
            if self.command(type(of: command)._commandName) == nil { try command.run() }
        } catch {
            end(with: error)
        }
        end(with: complaint)
    }

    /// Runs `own` and `daemon` without the parser: registering the other commands takes a third of a device's start
    /// time.
    /// Returns for any other command, and for these two with other arguments, which the parser then handles.
    private static func serve(_ arguments: ArraySlice<String>) async {
        switch (arguments.first, arguments.count) {
        case (Own._commandName, 1): Glibc.exit(await OwnedDevice.run())
        case (Serve._commandName, 2) where arguments.last?.hasPrefix("/") == true:
            Glibc.exit(await DaemonProcess.run(device: arguments.last ?? ""))
        default: break
        }
    }

    /// Prints a complaint, and ends the process with the exit code of its kind.
    static func end(with complaint: Complaint) -> Never {
        StandardError.complain(complaint.message)
        Glibc.exit(complaint.kind.exitCode)
    }

    /// Ends the process where an argument is not UTF-8. Swift's String would replace invalid bytes, and so name another
    /// file.
    /// - Parameter code: the exit code of wrong usage.
    static func requireText(orEndWith code: Int32) {
        guard let argument = ArgumentBytes.firstNotUTF8() else { return }
        StandardError.complain(
            "names given to this command have to be UTF-8, and \(argument) is not; name the directory it is in")
        Glibc.exit(code)
    }

    /// Refuses a first word that is no command. The parser would take it for an argument of the root, and print the
    /// root's help for `help` of it.
    /// - Throws: `ValidationError`, which becomes exit code 64.
    private static func requireCommand(_ arguments: ArraySlice<String>) throws {
        let words = arguments.drop { ["--help", "-h", "--version"].contains($0) }
        guard let first = words.first, !first.hasPrefix("-") else { return }
        let name =
            first == "help" ? words.dropFirst().filter { !$0.hasPrefix("-") }.joined(separator: " ") : first
        guard name.isEmpty || name == "help" || command(name) != nil else {
            // `own` waits for an order of a program: nobody types it.
            let names = groups.flatMap(\.subcommands).map { $0._commandName }.filter { $0 != Own._commandName }
            throw ValidationError("There is no command \(name)\(CommandSpelling.question(for: name, among: names))")
        }
    }

    /// The subcommand of a name, also the hidden `daemon`; nil for a word that is none.
    private static func command(_ name: String) -> (any ParsableCommand.Type)? {
        ([Serve.self] + groups.flatMap(\.subcommands)).first { $0._commandName == name }
    }

    /// Prints help and completions to standard output, and wrong usage as one line like every other error.
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            do throws(Complaint) {
                try Output.line(CompletionScript.corrected(fullMessage(for: error)))
            } catch {
                end(with: error)
            }
            Glibc.exit(EXIT_SUCCESS)
        }
        let named = CommandLine.arguments.dropFirst().first.flatMap(command)
        let help = named.map { "appcontainer \($0._commandName) --help" } ?? "appcontainer --help"
        StandardError.complain("\(clause(of: error)); see: \(help)")
        Glibc.exit(code == .validationFailure ? EX_USAGE : code.rawValue)
    }

    /// A parser's error as the beginning of a line: its sentences end with a full stop.
    static func clause(of error: any Error) -> String {
        let message = message(for: error)
        return message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}
