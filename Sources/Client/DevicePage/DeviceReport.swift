// The report of an app: the page as one static file, with what was found in it.

public import AppContainer
import FoundationEssentials
import SandboxModel

/// The data of a report.
public struct DeviceReport: Encodable, Sendable {
    private let mode = "report"
    public let survey: Survey
    /// Of an audit.
    let findings: [AuditReport.Group]
    let events: [Event]
    /// The time of its making: ISO 8601, in UTC.
    let time: String

    /// The number of events on the page.
    private static let lastEvents = 100

    /// - Parameter events: of the device; the last of the app and of the device as a whole are shown.
    public init(survey: Survey, findings: [AuditReport.Group], events: [Event], time: String = Event.now) {
        self.survey = survey
        self.findings = findings
        self.events = Array(
            events.filter { $0.app == nil || $0.app == survey.app }.suffix(DeviceReport.lastEvents))
        self.time = time
    }

    /// Asks a device for the data.
    /// - Throws: ``Complaint`` of kind `unknownApp`, and others about reaching the device.
    init(of app: String, on device: DeviceReach) async throws(Complaint) {
        do throws(DeviceError) {
            self.init(
                survey: try await device.send(SurveyRequest(app: app)),
                findings: try await device.send(AuditRequest(app: app)).groups,
                events: try await device.send(EventsRequest()))
        } catch {
            throw Complaint(error)
        }
    }

    private enum CodingKeys: CodingKey {
        case mode, survey, findings, events, time
    }

    /// The whole page, which loads nothing.
    /// - Throws: ``Complaint`` of kind `unexpected`: only a mistake in the page or in the data's types causes it.
    public var html: [UInt8] {
        get throws(Complaint) { try PageTemplate.file(with: try PageData.json(self)) }
    }
}
