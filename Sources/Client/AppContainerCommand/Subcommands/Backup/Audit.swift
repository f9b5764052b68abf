// appcontainer audit: checks containers against the data storage guidelines.

import AppContainer
import ArgumentParser
import Platform
import SandboxModel

/// The daemon finds and judges the files. The file of patterns is read here, as the request has its text. The report is
/// printed in any case, before exit code 51.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check an app's containers against Apple's data storage guidelines.",
        discussion: """
            Tells how much each directory would bring into a backup, and what is in the wrong place: files that can be \
            made again and would be backed up; documents that would not be, or that a locked device gives away; \
            documents and databases where they are purged or an update drops them; excluded directories of Library \
            that are not named after the app.

            Ends with exit code 51 where something breaks the guidelines; with --strict for advice as well.

            A file of patterns has lines such as "document *.cad", "recreatable Tiles/" or "ordinary *.tmp"; the last \
            pattern that matches counts.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Option(help: ArgumentHelp("Add the patterns of this file.", valueName: "file"))
    var patterns: String?
    @Flag(help: "Fail for advice, too.")
    var strict = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let text = try patterns.map(Audit.read)
        let request = AuditRequest(app: app.bundleID, patterns: text)
        let report = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        if answer.json { try Output.json(report) } else { try show(report) }
        // The daemon's own verdict knows nothing of --strict.
        let breaches = report.findings.filter { strict || $0.severity == .breach }
        guard breaches.isEmpty else {
            let count = breaches.count == 1 ? "1 finding" : "\(breaches.count) findings"
            throw Complaint(
                .guidelinesBroken,
                "\(count) in the containers of \(report.app); move, exclude or protect what is listed")
        }
    }

    /// The text of a file of patterns, of 256 KiB at most. The daemon parses it.
    /// - Throws: ``Complaint`` of kind `notFound` for a file that cannot be read, `badRequest` if it is not UTF-8.
    private static func read(_ file: String) throws(Complaint) -> String {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try HostPath.contents(file, limit: 1 << 18)
        } catch {
            throw Complaint(.notFound, "cannot read the patterns in \(file): \(error.message)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Complaint(.badRequest, "\(file) is not UTF-8")
        }
        return text
    }

    /// Prints the directories that hold anything, and the findings below them.
    private func show(_ report: AuditReport) throws(Complaint) {
        try Output.table(
            [["BACKED UP", "LEFT OUT", "DIRECTORY"]]
                + report.directories.filter { $0.size > 0 || $0.leftOut > 0 }.map { directory in
                    [
                        Output.size(directory.size), directory.leftOut > 0 ? Output.size(directory.leftOut) : "",
                        Audit.place(directory.domain, directory.path),
                    ]
                })
        guard !report.findings.isEmpty else { return try Output.line("nothing to say against it") }
        try Output.line("")
        try Output.table(
            report.findings.map { finding in
                [
                    finding.severity == .breach ? "breach" : "advice", Output.size(finding.size),
                    Audit.place(finding.domain, finding.path), Audit.advice[finding.rule] ?? finding.rule,
                ]
            })
    }

    private static func place(_ domain: String, _ path: String) -> String {
        path.isEmpty ? domain : "\(domain)/\(path)"
    }

    /// The words for the rules of `AuditRules` in `SandboxPolicy`.
    private static let advice = [
        "recreatableBackedUp": "can be made again, and would be backed up: exclude it, or move it to Library/Caches",
        "documentNotBackedUp": "a document that would not be backed up: include it",
        "documentReadableWhileLocked": "a document that a locked device gives away: protect it as complete",
        "irreplaceablePurgeable": "cannot be made again, and may be purged: move it to Library/Application Support",
        "irreplaceableLostByUpdate": "cannot be made again, and an update drops it: move it out of tmp",
        "excludedDirectoryName": "an excluded directory of Library: name it after the bundle identifier",
    ]
}
