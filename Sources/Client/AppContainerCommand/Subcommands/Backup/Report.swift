// appcontainer report: draws containers as an HTML page.

import AppContainer
import ArgumentParser
import Daemon
import DevicePage
import Glibc
import Platform
import SandboxModel

/// The survey and the audit come from the daemon and the events from the device's record; the page is made and written
/// here, so that it belongs to the user of the command.
struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw an app's containers as one HTML page.",
        discussion: """
            The page shows every part by size, coloured by protection class, with what is left out of backups and \
            what may be purged, the findings of an audit, the device's state and its last events. It is complete in \
            itself and loads nothing.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(
        help: "The page to make. A file that is there is replaced, a pipe or device written to.",
        completion: .file(extensions: ["html"]))
    var output: String
    @OptionGroup var patterns: PatternsOption

    func run() async throws {
        let request = AuditRequest(app: app.bundleID, patterns: try patterns.text())
        let survey = try await showingProgress { line in
            try await device.send(SurveyRequest(app: app.bundleID), progress: line.report)
        }
        let audit = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        let events = try EventRecord.entries(of: try device.path()).map(\.event)
        let page = try DeviceReport(survey: survey, findings: audit.groups, events: events).html
        try Output.write(page, to: output)
    }
}
