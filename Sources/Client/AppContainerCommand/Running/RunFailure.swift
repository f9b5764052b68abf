// Failures of the commands that run another command.

import AppContainer
import ArgumentParser
import Daemon
import Platform
import SandboxModel

/// Failures of `run`, `launch` and `test` themselves, with the exit codes of env(1).
enum RunFailure: Error {
    /// A failure of any kind before the command: 125, so that a script does not take it for a status of the command.
    case own(Complaint)
    /// The command does not exist (127), or cannot be executed (126).
    /// - Parameters: the command as the user gave it, and the error of execve(2).
    case cannotStart(String, SystemError)

    /// The exit code of env(1), which few programs have as a status of their own.
    var exitCode: ExitCode {
        switch self {
        case .own: ExitCode(125)
        case .cannotStart(_, .noEntry): ExitCode(127)
        case .cannotStart: ExitCode(126)
        }
    }

    var message: String {
        switch self {
        case .own(let complaint): complaint.message
        case .cannotStart(let command, let error): "cannot run \(command): \(error.message)"
        }
    }

    /// Prints a failure as one line, and throws its exit code.
    static func reporting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await of(body)
        } catch let failure as RunFailure {
            StandardError.complain(failure.message)
            throw failure.exitCode
        }
    }

    /// Converts errors of this command and of the device to ``RunFailure``. Other errors pass, such as those of the
    /// parser.
    static func of<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let complaint as Complaint {
            throw RunFailure.own(complaint)
        } catch let error as DeviceError {
            throw RunFailure.own(Complaint(error))
        }
    }
}
