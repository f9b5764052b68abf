// appcontainer check: checks a device for damage.

import AppContainer
import ArgumentParser
import SandboxModel

/// Files that cannot be opened in the device's state are no damage: they are counted on standard error, and the exit
/// code stays 0.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at every header, block and length of a device.",
        discussion: """
            Prints "whole", or one line a problem and ends with exit code 22. The device may be mounted and in use. \
            Files that the device's present state keeps closed are looked at as far as that goes without their keys, \
            and are counted on standard error.
            """)

    @OptionGroup var device: DeviceArgument
    @Flag(help: "Clear away what a crash left over. Content is never touched.")
    var repair = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let report = try await showingProgress { line in
            try await device.send(CheckRequest(repair: repair), progress: line.report)
        }
        if answer.json {
            try Output.json(report)
        } else {
            let repaired = report.repaired.map { "repaired: \(Check.line($0))" }
            let problems = report.problems.map(Check.line)
            try Output.lines(repaired + problems + (report.isWhole ? ["whole"] : []))
        }
        if report.unreadable > 0 {
            let files = report.unreadable == 1 ? "file" : "files"
            StandardError.complain("\(report.unreadable) \(files) could not be opened; unlock the device")
        }
        // No complaint: the problems were the answer, on standard output.
        guard report.isWhole else { throw ExitCode(Complaint.Kind.damaged.exitCode) }
    }

    /// The container, the path in it, and the flaw.
    private static func line(_ problem: CheckReport.Problem) -> String {
        let place = [problem.container, problem.path].filter { !$0.isEmpty }.joined(separator: "/")
        return "\(place): \(problem.message)".onOneLine
    }
}
