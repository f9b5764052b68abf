// The page of `report`: Page.html with its data inserted as JSON.

import AppContainer
import FoundationEssentials
import SandboxModel

/// The data of the page.
struct ReportPage: Encodable {
    let survey: Survey
    /// Of an audit.
    let findings: [AuditReport.Group]
    let events: [Event]
    /// The time of its making: ISO 8601, in UTC.
    let time: String

    /// The placeholder in Page.html: a JSON string, so that the page is valid without data too.
    private static let place = Array("\"%DATA%\"".utf8)

    /// The whole page.
    /// - Throws: ``Complaint`` of kind `unexpected`: only a mistake in Page.html or in the data's types causes it.
    var html: [UInt8] {
        get throws(Complaint) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let json = try? encoder.encode(self) else {
                throw Complaint(.unexpected, "cannot write JSON of what was found")
            }
            let page = PackageResources.Page_html
            guard let place = page.firstRange(of: ReportPage.place) else {
                throw Complaint(.unexpected, "the page has no place for what was found")
            }
            return page[..<place.lowerBound] + ReportPage.embedded(json) + page[place.upperBound...]
        }
    }

    /// JSON for a script element: no text in it can end the element or begin a comment.
    private static func embedded(_ json: Data) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        for byte in String(decoding: json, as: UTF8.self).jsonForTerminals.utf8 {
            switch byte {
            case UInt8(ascii: "<"): text += Array("\\u003c".utf8)
            case UInt8(ascii: ">"): text += Array("\\u003e".utf8)
            case UInt8(ascii: "&"): text += Array("\\u0026".utf8)
            default: text.append(byte)
            }
        }
        return text
    }
}
