// The page, put together from its parts: as one static file, or as the files of a server.

import FoundationEssentials
import HashFunctions
import SandboxModel

/// The parts of the page, and how they become one.
enum PageTemplate {
    /// The scripts, in the order in which they rely on each other.
    static let script = joined([
        PackageResources.Text_js,
        PackageResources.Elements_js,
        PackageResources.API_js,
        PackageResources.Commands_js,
        PackageResources.Model_js,
        PackageResources.Rows_js,
        PackageResources.Layout_js,
        PackageResources.Files_js,
        PackageResources.RowView_js,
        PackageResources.Tree_js,
        PackageResources.Map_js,
        PackageResources.FilePage_js,
        PackageResources.Events_js,
        PackageResources.TimeLine_js,
        PackageResources.Device_js,
        PackageResources.Actions_js,
        PackageResources.DeviceActions_js,
        PackageResources.FileActions_js,
        PackageResources.Guidelines_js,
        PackageResources.Report_js,
        PackageResources.Page_js,
        PackageResources.Live_js,
    ])
    /// The script of a page's worker, which lists files.
    static let worker = joined([
        PackageResources.API_js,
        PackageResources.Model_js,
        PackageResources.Listing_js,
        PackageResources.Rows_js,
        PackageResources.Layout_js,
        PackageResources.Worker_js,
    ])
    /// The script of the worker that all pages of a browser share.
    static let feed = joined([PackageResources.API_js, PackageResources.Feed_js])
    static var style: [UInt8] { PackageResources.Page_css }

    /// The page with everything in it. Its policy lets only these scripts and this style run.
    /// - Parameter json: as ``PageData`` makes it.
    /// - Throws: ``Complaint`` of kind `unexpected` where the template lacks a place.
    static func file(with json: [UInt8]) throws(Complaint) -> [UInt8] {
        let policy =
            "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
            + "script-src \(hash(script)); style-src \(hash(style))"
        return try filled([
            ("\"%DATA%\"", json), ("%POLICY%", Array(policy.utf8)),
            ("%STYLE%", Array("<style>".utf8) + style + Array("</style>".utf8)),
            ("%SCRIPTS%", Array("<script>".utf8) + script + Array("</script>".utf8)),
        ])
    }

    /// The page of a server, which has scripts and style in files of their own.
    /// - Throws: as ``file(with:)``.
    static func shell(with json: [UInt8]) throws(Complaint) -> [UInt8] {
        try filled([
            ("\"%DATA%\"", json), ("%POLICY%", Array(PageReply.policyOfPage.utf8)),
            ("%STYLE%", Array(#"<link rel="stylesheet" href="/page.css">"#.utf8)),
            ("%SCRIPTS%", Array(#"<script src="/page.js"></script>"#.utf8)),
        ])
    }

    /// Fills the places of the template, each of which is there once, from its beginning on: no place is looked for in
    /// the content of another.
    private static func filled(_ parts: [(place: String, bytes: [UInt8])]) throws(Complaint) -> [UInt8] {
        var rest = PackageResources.Page_html[...]
        var page: [UInt8] = []
        var left = parts
        while !left.isEmpty {
            let places = left.compactMap { part in rest.firstRange(of: Array(part.place.utf8)).map { (part, $0) } }
            guard let (part, range) = places.min(by: { $0.1.lowerBound < $1.1.lowerBound }) else {
                throw Complaint(.unexpected, "the page has no place for \(left[0].place)")
            }
            page += rest[..<range.lowerBound] + part.bytes
            rest = rest[range.upperBound...]
            left.removeAll { $0.place == part.place }
        }
        return page + rest
    }

    /// The source of a Content-Security-Policy for an element with this content.
    private static func hash(_ content: [UInt8]) -> String {
        "'sha256-\(Data(HashFunction.sha256.digest(of: content)).base64EncodedString())'"
    }

    private static func joined(_ scripts: [[UInt8]]) -> [UInt8] {
        Array(scripts.joined(separator: [UInt8(ascii: "\n")]))
    }
}
