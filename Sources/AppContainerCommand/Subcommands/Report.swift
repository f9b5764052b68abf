// appcontainer report

import AppContainer
import ArgumentParser
import Daemon
import Glibc
import Platform
import SandboxModel

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw an app's containers as one HTML page.",
        discussion: """
            The page shows every part by size, coloured by protection class, with what is left out of backups and \
            what may be purged, the device's state and its last events. It is complete in itself and loads nothing.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(help: "The page to make. A file that is there is replaced.", completion: .file(extensions: ["html"]))
    var output: String

    /// Events that the page shows.
    private static let lastEvents = 100

    func run() async throws {
        let survey = try await showingProgress { line in
            try await device.send(SurveyRequest(app: app.bundleID), progress: line.report)
        }
        let events = try EventRecord.entries(of: try device.path()).map(\.event)
            .filter { $0.app == nil || $0.app == survey.app }
        let page = try ReportPage(survey: survey, events: Array(events.suffix(Report.lastEvents)), time: Event.now).html
        try Report.write(page, to: output)
    }

    /// Whole or not at all: the page is written under another name first.
    private static func write(_ page: [UInt8], to path: String) throws(Complaint) {
        let unfinished = "\(path).\(getpid()).unfinished"
        do throws(SystemError) {
            let file = try Descriptor.open(path: unfinished, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            try file.append(page)
            try HostPath.rename(unfinished, to: path)
        } catch {
            try? HostPath.removeFile(unfinished)
            throw Complaint(error, doing: "cannot write \(path)")
        }
    }
}
