// The report of an app, as a file to download.

import AppContainer
import ControlServer
import SandboxModel

/// Makes reports for the page.
struct PageReports: Sendable {
    let device: DeviceReach
    /// Whether it makes none. A report is a file that leaves the page, and its making audits the app.
    let isReadOnly: Bool

    /// The query has `app`.
    func response(to request: HTTPRequest) async -> HTTPResponse {
        guard !isReadOnly else { return PageForwarding.readOnly }
        guard let app = QueryText(request.query)["app"] else {
            return PageReply.failure(Complaint(.badRequest, "a report is one of an app: name it by app"), status: 400)
        }
        do throws(Complaint) {
            let report = try await DeviceReport(of: app, on: device)
            let name = "\(report.survey.app).html"
            return PageReply.whole(
                try report.html, type: PageReply.html,
                further: [("Content-Disposition", "attachment; filename=\"\(name)\"")])
        } catch {
            return PageReply.failure(error, status: PageReply.status(of: error.kind))
        }
    }
}
