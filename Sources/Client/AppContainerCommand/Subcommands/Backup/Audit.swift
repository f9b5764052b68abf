// appcontainer audit: checks containers against the data storage guidelines.

import AppContainer
import ArgumentParser
import SandboxModel

/// The daemon finds and judges the files. The report is printed in any case, before exit code 51.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check an app's containers against Apple's data storage guidelines.",
        discussion: """
            Tells how much each directory would bring into a backup, and what is in the wrong place: files that can be \
            made again and would be backed up; documents that would not be, or that a locked device gives away; \
            documents and databases where they are purged or an update drops them; excluded directories of Library \
            that are not named after the app. Findings of one rule in one directory are one line; --json names each.

            Ends with exit code 51 where something breaks the guidelines; with --strict for advice as well.

            A file of patterns has lines such as "document *.cad", "recreatable Tiles/" or "ordinary *.tmp"; a \
            pattern for a directory covers all that is in it, and the last pattern that matches counts. An excluded \
            file may be a download, unless a pattern of yours calls it a document.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @OptionGroup var patterns: PatternsOption
    @Flag(help: "Fail for advice, too.")
    var strict = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let request = AuditRequest(app: app.bundleID, patterns: try patterns.text())
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

    /// Prints the directories that hold anything, and the findings below them.
    private func show(_ report: AuditReport) throws(Complaint) {
        try Output.table(
            report.directories.filter { $0.size > 0 || $0.leftOut > 0 }.map { directory in
                [
                    Output.size(directory.size), directory.leftOut > 0 ? Output.size(directory.leftOut) : "",
                    Audit.place(directory.domain, directory.path),
                ]
            }, under: ["BACKED UP", "LEFT OUT", "DIRECTORY"])
        guard !report.findings.isEmpty else { return try Output.line("nothing to say against it") }
        try Output.line("")
        try Output.table(
            report.groups.map { group in
                [group.severity.rawValue, Output.size(group.size), Audit.place(group), group.words]
            })
    }

    private static func place(_ domain: String, _ path: String) -> String {
        path.isEmpty ? domain : "\(domain)/\(path)"
    }

    /// The place of a finding, or a directory with the names of several in it.
    private static func place(_ group: AuditReport.Group) -> String {
        let place = place(group.domain, group.path)
        guard group.findings > 1 else { return place }
        let more = group.findings - group.names.count
        return "\(place): \(group.names.joined(separator: ", "))\(more > 0 ? " and \(more) more" : "")"
    }
}
