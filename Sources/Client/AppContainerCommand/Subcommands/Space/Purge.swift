// appcontainer purge: purges caches and temporary files.

import AppContainer
import ArgumentParser
import SandboxModel

/// The report is printed in any case, before exit code 45.
struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Purge caches and temporary files of apps that are not running.",
        discussion: """
            Takes entries of Library/Caches and tmp away, whole, the least recently used first. A use is the opening, \
            creating or closing of a file in the entry. Nothing goes of an app that is running, and no entry in which \
            a file is open.

            Without --free, --level or --older-than it purges until as much is available as the high-water mark says. \
            When --free cannot be reached, all goes that may, and the exit code is 45.

            SIZE is bytes, or with K, M, G, T; AGE is seconds, or with m, h, d.
            """)

    /// The raw values are the words on the command line, and those of the control API.
    enum Level: String, CaseIterable, ExpressibleByArgument {
        case warning, critical
    }

    @OptionGroup var device: DeviceArgument
    @Option(help: ArgumentHelp("Purge only this app.", valueName: "id"), completion: Completions.apps)
    var app: String?
    @Option(help: ArgumentHelp("Purge until so much is available.", valueName: "size"))
    var free: ByteCount?
    @Option(help: "Purge to the high-water mark (warning), or all that may go (critical).")
    var level: Level?
    @Option(help: ArgumentHelp("Purge all that was not used for so long.", valueName: "age"))
    var olderThan: Age?
    @Flag(help: "Tell what would go, and leave it.")
    var dryRun = false
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        guard [free != nil, level != nil, olderThan != nil].filter({ $0 }).count <= 1 else {
            throw ValidationError("--free, --level and --older-than exclude each other")
        }
    }

    func run() async throws {
        let request = PurgeRequest(
            app: app, free: free?.bytes, level: level.flatMap { PurgeRequest.Level(rawValue: $0.rawValue) },
            olderThan: olderThan?.seconds, dryRun: dryRun)
        let report = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        if answer.json { try Output.json(report) } else { try show(report) }
        if let free, !report.isEnough {
            throw Complaint(
                .notEnoughFreed,
                "only \(Output.size(report.available)) \(dryRun ? "would be" : "are") available, not "
                    + "\(Output.size(free.bytes)); nothing else may go: end apps, or delete something")
        }
    }

    /// Prints a row for each entry with its fate, and the sum.
    private func show(_ report: PurgeReport) throws(Complaint) {
        let purged = report.purged.map { row(dryRun ? "would purge" : "purged", $0, Purge.reasons) }
        let skipped = report.skipped.map { row("skipped", $0, Purge.refusals) }
        try Output.table(purged + skipped)
        let sum = "\(Output.size(report.freed)) \(dryRun ? "would come free" : "came free")"
        try Output.line("\(sum), \(Output.size(report.available)) \(dryRun ? "would be" : "are") available")
    }

    /// - Parameter reasons: the words; a reason that is not among them is shown by its own word.
    private func row(_ verdict: String, _ entry: PurgeReport.Entry, _ reasons: [String: String]) -> [String] {
        [verdict, entry.app, entry.path, Output.size(entry.size), reasons[entry.reason] ?? entry.reason]
    }

    /// The words for the reasons of `PurgePlan` to purge an entry.
    private static let reasons = [
        "leastRecentlyUsed": "unused for the longest time",
        "purgeable": "all that is purgeable goes",
        "unused": "not used for that long",
    ]

    /// The words for the reasons to skip an entry.
    private static let refusals = [
        "appRunning": "its app is running",
        "fileOpen": "a file in it is open",
        "targetReached": "enough is available without it",
        "usedRecently": "used more recently than that",
        "empty": "takes no space",
        "appBusy": "its app is being changed",
        "changed": "it was changed meanwhile",
        "cancelled": "the purge was ended before",
        "failed": "the host did not let it go",
    ]
}
