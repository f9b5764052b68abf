// The report of an app, as a file to download.

import AppContainer
import ControlServer
import SandboxModel

/// Makes reports for the page.
struct PageReports: Sendable {
    let device: DeviceReach

    /// The query has `app`.
    func response(to request: HTTPRequest) async -> HTTPResponse {
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
            let status = [.unknownApp: 404, .daemonUnreachable: 503][error.kind] ?? 500
            return PageReply.failure(error, status: status)
        }
    }
}
